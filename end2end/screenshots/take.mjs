// Takes the README's pictures: `make screenshots`. A server of its own, `toll demo`, and stills of what a customer would look
// at: absolute windows, as the Snapshot link of a page makes them.
import { chromium } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { demo } from '../support/demo.mjs';
import { startToll } from '../support/server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const password = 'nine lives are enough';
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

const toll = await startToll();
const browser = await chromium.launch({ executablePath, args });
try {
  const ops = await signedIn(toll.invitation, 'ada@example.com');
  const began = Date.now();
  demo({ backfill: '24h', seconds: Number(process.env.DEMO_SECONDS ?? 60), env: toll.env });
  const partner = await signedIn(invite('hasty'), 'hal@hasty.example');
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

/// A one-time link for somebody of a partner.
function invite(slug) {
  const command = ['users', 'invite', '--email', `hal@${slug}.example`, '--role', 'partner', '--partner', slug];
  const said = execFileSync(join(root, 'target/release/toll'), command, { cwd: root, env: toll.env, encoding: 'utf8' });
  return said.match(/https?:\S+\/invite\/[0-9a-f]{64}/)[0];
}

async function signedIn(link, email) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5, reducedMotion: 'reduce', colorScheme: 'light', timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(link);
  const mail = page.getByLabel('E-mail');
  if (await mail.count()) await mail.fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL(/\/(ops|portal)/);
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
