// Takes the README's pictures: `make screenshots`. A server of its own, `toll demo` for a few minutes, and what a customer
// would look at, each by its Snapshot link, so that a picture shows what its link shows.
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
  demo({ backfill: '24h', seconds: Number(process.env.DEMO_SECONDS ?? 150), env: toll.env });
  const partner = await signedIn(invite('hasty'), 'hal@hasty.example');

  await take(ops, 'ops', '/ops?last=6h', '.verdict, .verdicts');
  await take(ops, 'upstreams', '/ops/upstreams?last=6h', '.band, .canvas.drawn');
  await take(ops, 'latency', '/ops/latency?last=6h', '.latency-map');
  await take(partner, 'portal', '/portal?last=1h', '.books');
  await take(partner, 'keys', '/portal/keys', '.list');
  await partner.goto(new URL('/portal/requests?last=1h&stage=quota', toll.url).href);
  const receipt = await partner.locator('table.requests tbody a').first().getAttribute('href');
  await take(partner, 'receipt', receipt, 'main');
} finally {
  await browser.close();
  await toll.stop();
}

/// A one-time link for somebody of a partner.
function invite(slug) {
  const command = ['users', 'invite', '--email', `hal@${slug}.example`, '--role', 'partner', '--partner', slug];
  const said = execFileSync(join(root, 'target/release/toll'), command, { cwd: root, env: toll.env, encoding: 'utf8' });
  return said.match(/https?:\S+\/invite\/[0-9a-f]{64}/)[0];
}

async function signedIn(link, email) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2, reducedMotion: 'reduce', colorScheme: 'light', timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(link);
  const mail = page.getByLabel('E-mail');
  if (await mail.count()) await mail.fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL(/\/(ops|portal)/);
  return page;
}

/// The still of a page, if it has a window; from its top, as much as a reader takes in.
async function take(page, name, path, shows) {
  await page.goto(new URL(path, toll.url).href);
  const still = page.getByRole('link', { name: 'Snapshot' });
  if (await still.count()) await still.click();
  await page.locator(shows).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(1_000);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.screenshot({ path: join(here, `${name}.png`), fullPage: true, clip: { x: 0, y: 0, width: 1280, height: Math.min(height, 1_000) } });
  console.log(`end2end/screenshots/${name}.png`);
}
