// From an invitation to the first served request, by oneself; signing up; a colleague; a lost password.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, pictures, test, url } from '../support/page.mjs';
import { arrive, password } from '../support/people.mjs';
import { openShop } from '../support/shop.mjs';
import { newKey, resetLink } from '../support/toll.mjs';

test.use({ storageState: { cookies: [], origins: [] }, permissions: ['clipboard-read', 'clipboard-write'] });

let shop;
test.beforeAll(async () => {
  shop = await openShop('selfserve', { partners: ['novice', 'silent'], signUp: true });
});
test.afterAll(() => shop.close());

/// The id of a request that arrives now.
const v7 = () => {
  const hex = Date.now().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

const count = (page, line) => page.locator('.books').getByRole('row', { name: line }).getByRole('cell').nth(1);

test('invitation, password, first key, the curl as pasted, and the first row appears without a reload', async ({ page, context }) => {
  await arrive(page, 'novice');
  await expect(page.getByText('Nothing arrived in this window.')).toBeVisible();
  await expect(page.getByText('Waiting for the first request.')).toBeVisible();
  await pictures(page, 'portal-empty');

  const keys = await context.newPage();
  await keys.goto(url('/portal'));
  await keys.getByRole('link', { name: 'create a key' }).click();
  await keys.getByRole('link', { name: 'Create a key' }).click();
  await keys.getByRole('dialog').getByLabel('Name').fill('First');
  await keys.getByRole('button', { name: 'Create key' }).click();
  await keys.getByRole('button', { name: 'Copy the curl command' }).click();
  await expect(keys.getByRole('dialog').getByText('Copied', { exact: true })).toBeVisible();
  const command = await keys.evaluate(() => navigator.clipboard.readText());
  // Not synchronously: the upstream lives in this process.
  const { stdout: answer } = await promisify(execFile)('bash', ['-c', command]);
  expect(answer).toContain(' 200 ');
  const id = answer.match(/x-toll-id: (\S+)/i)[1];
  await keys.close();

  await page.bringToFront();
  await expect(count(page, /^Arrived/)).toHaveText('1', { timeout: 20_000 });
  await expect(page.getByText('The one request reached the upstream.')).toBeVisible();
  await expect(page.getByText('Waiting for the first request.')).toHaveCount(0);
  await expect(page.getByText(/^59 of 60 left|^60 of 60 left/)).toBeVisible();
  await pictures(page, 'portal');

  await page.goto(url(`/r/${id}`));
  await expect(page.getByText('GET /api/selfserve was answered 200 by the upstream.')).toBeVisible();
});

test('whoever likes an open plan signs up, and signs in', async ({ page }) => {
  await page.goto(url('/'));
  await page.getByRole('link', { name: 'Sign up' }).click();
  await pictures(page, 'sign-up');
  await page.getByLabel('Company or project').fill('Hooli');
  await page.getByLabel('E-mail').fill('gavin@hooli.example');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await expect(page.getByText('If the address had no account yet, it has one now.')).toBeVisible();
  await page.getByLabel('E-mail').fill('gavin@hooli.example');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL(url('/portal'));
  await page.goto(url('/portal/docs'));
  await expect(page.getByRole('row', { name: /^selfserve/ })).toContainText('/api/selfserve');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('a colleague is invited by a link, and a lost password is set anew by one', async ({ page, browser }) => {
    await arrive(page, 'novice', { email: 'carol@novice.example' });
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('E-mail').fill('dave@novice.example');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = await page.locator('.secret code').textContent();
    await page.getByRole('link', { name: 'People' }).click();
    await expect(page.getByRole('row', { name: /^dave@novice.example/ })).toContainText('invited');

    const other = await browser.newContext({ storageState: undefined });
    const dave = await other.newPage();
    await dave.goto(link);
    await dave.getByLabel('Password').fill(password);
    await dave.getByRole('button', { name: 'Create account' }).click();
    await expect(dave).toHaveURL(url('/portal'));

    await dave.goto(resetLink('dave@novice.example'));
    await dave.getByLabel('New password').fill('short but kept');
    await dave.getByRole('button', { name: 'Set password' }).click();
    await expect(dave).toHaveURL(url('/portal'));
    await other.close();
  });

  test('no page promises to go on by itself, and each is loaded again by a link', async ({ page }) => {
    await arrive(page, 'silent');
    const promises = page.getByText(/by itself|Waiting for|^Live$/).filter({ visible: true });
    await expect(page.getByText('Scripts are off, so this page stays as it is.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Load again' })).toBeVisible();
    await expect(promises).toHaveCount(0);
    await page.screenshot({ path: 'artefacts/portal-empty-no-scripts.png', fullPage: true });

    const answer = await fetch(url('/api/selfserve'), { headers: { 'x-api-key': newKey('silent', 'First') } });
    await expect(async () => {
      await page.getByRole('link', { name: 'Load again' }).click();
      await expect(count(page, /^Arrived/)).toHaveText('1');
    }).toPass();
    await page.goto(url(`/r/${answer.headers.get('x-toll-id')}`));
    await expect(page.getByText('GET /api/selfserve was answered 200 by the upstream.')).toBeVisible();

    // Nothing will ever be known of this one.
    await page.goto(url(`/r/${v7()}`));
    await expect(page.getByText('This receipt is being written down.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Load it again' })).toBeVisible();
    await expect(promises).toHaveCount(0);
    await page.goto(url('/portal?from=2025-01-01T10:00Z&to=2025-01-01T11:00Z'));
    await expect(page.getByText('The newest requests are in another:')).toBeVisible();
    await page.getByRole('link', { name: 'the last hour' }).click();
    await expect(count(page, /^Arrived/)).toHaveText('1');
  });
});

test('people and reset pages are handsome and accessible', async ({ page }) => {
  await arrive(page, 'novice', { email: 'erin@novice.example' });
  await page.goto(url('/portal/people'));
  await pictures(page, 'people');
  await page.goto(resetLink('erin@novice.example'));
  await pictures(page, 'reset');
});
