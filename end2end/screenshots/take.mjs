// Takes the README's pictures: `make screenshots`. A server of its own, `toll demo`, and stills of what a customer would look
// at: absolute windows, as the Snapshot link of a page makes them.
import { chromium } from '@playwright/test';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { accept } from '../support/people.mjs';
import { startToll } from '../support/server.mjs';
import { demo, invite } from '../support/toll.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

const toll = await startToll();
const browser = await chromium.launch({ executablePath, args });
try {
  const ops = await signedIn(toll.invitation, 'ada@example.com');
  const began = Date.now();
  demo({ backfill: '24h', seconds: Number(process.env.DEMO_SECONDS ?? 60), env: toll.env });
  const partner = await signedIn(invite('hasty', 'hal@hasty.example', toll.env));
  // Stills of what the demo says has happened: the hour in which `hasty` began to loop, the six in which `billing` was out.
  const still = (hours, ago) => `from=${minute(began, ago + hours)}&to=${minute(began, ago)}&live=off`;
  const hour = still(1, 1.6);
  const morning = still(6, 0.1);

  await take(ops, 'ops', `/ops?${hour}`, '.books');
  await take(ops, 'upstreams', `/ops/upstreams?upstream=billing&${morning}`, '.canvas.drawn');
  await take(ops, 'latency', `/ops/latency?${morning}`, '.latency-map');
  await take(partner, 'portal', `/portal?${hour}`, '.books');
  await take(partner, 'keys', '/portal/keys', '.list');
  await ops.goto(new URL('/ops/requests?last=15m&partner=hasty&outcome=quota_early_retry', toll.url).href);
  const receipt = await ops.locator('table.requests tbody a').first().getAttribute('href');
  await take(partner, 'receipt', receipt, 'main');
} finally {
  await browser.close();
  await toll.stop();
}

/// The minute some hours before, as links name it.
function minute(at, hours) {
  return `${new Date(at - hours * 3_600_000).toISOString().slice(0, 16)}Z`;
}

async function signedIn(link, email) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce', colorScheme: 'light', timezoneId: 'UTC' });
  const page = await context.newPage();
  await accept(page, link, email);
  return page;
}

/// A page from its top, as much as a reader takes in.
async function take(page, name, path, shows) {
  await page.goto(new URL(path, toll.url).href);
  await page.locator(shows).first().waitFor();
  await page.waitForLoadState('networkidle');
  // Charts have drawn themselves.
  await page.waitForTimeout(1_000);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const clip = { x: 0, y: 0, width: 1280, height: Math.min(height, 1_000) };
  await page.screenshot({ path: join(here, `${name}.png`), fullPage: true, clip });
  console.log(`end2end/screenshots/${name}.png`);
}
