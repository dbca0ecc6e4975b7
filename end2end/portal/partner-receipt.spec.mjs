// /portal, /portal/requests, /r/<id> and /portal/docs of a partner that is refused: what, why, and what to do.
import { expect, pictures, test, url } from '../support/page.mjs';
import { arrive } from '../support/people.mjs';
import { openShop } from '../support/shop.mjs';
import { newKey } from '../support/toll.mjs';

test.describe.configure({ mode: 'serial' });
test.use({ storageState: { cookies: [], origins: [] } });

let shop;
let state;
let key;
let refused;
test.beforeAll(async ({ browser, request }) => {
  shop = await openShop('narrow', { partners: ['eager', 'other'], capacity: 2, refill: 0.001 });
  key = newKey('eager', 'Loop');
  for (let n = 0; n < 6; n += 1) {
    refused = await request.get(url('/api/narrow/7'), { headers: { 'x-api-key': key } });
  }
  expect(refused.status()).toBe(429);
  const context = await browser.newContext();
  await arrive(await context.newPage(), 'eager');
  state = await context.storageState();
  await context.close();
});
test.afterAll(() => shop.close());
test.beforeEach(async ({ context }) => { await context.addCookies(state.cookies); });

test('a receipt marks the stage that answered, the rule and the wait', async ({ page }) => {
  await page.goto(url(`/r/${refused.headers()['x-toll-id']}`));
  await expect(page.getByRole('listitem').filter({ hasText: 'Quota' })).toHaveAttribute('aria-current', 'step', { timeout: 15_000 });
  await expect(page.getByRole('listitem').filter({ hasText: 'Cache' })).toContainText('not asked');
  await expect(page.getByText(/^Plan narrow: 2 at once, one more every 1,000 seconds/)).toBeVisible();
  await expect(page.getByText(/^429, come back in [^;]*$/)).toBeVisible();
  await expect(page.getByText(/The key’s last refusal was \d+ ms before, and the wait that it asked for was not over\.$/)).toBeVisible();
  await pictures(page, 'receipt');
});

test('the first page says what was refused and leads to the requests', async ({ page }) => {
  await page.goto(url('/portal'));
  await expect(page.getByText('0 of 2 left at once.')).toBeVisible();
  const row = page.locator('.refusals').getByRole('row', { name: /^Retried too early/ });
  await expect(row).toContainText('Sleep for the whole Retry-After');
  await pictures(page, 'portal-refused');
  await row.getByRole('link').click();
  await expect(page).toHaveURL(/\/portal\/requests\?.*outcome=quota(_|%5F)early(_|%5F)retry/);
  await expect(page.getByRole('table').getByText('/api/narrow/7').first()).toBeVisible();
  await pictures(page, 'partner-requests');
});

test('the docs name the routes, the key and every refusal', async ({ page }) => {
  await page.goto(url('/portal/docs'));
  await expect(page.getByText(`curl -i -H 'X-Api-Key: ${key.slice(0, 10)}…'`)).toBeVisible();
  await expect(page.getByRole('row', { name: /^narrow/ })).toContainText('GET, HEAD');
  await expect(page.locator('#quota_early_retry')).toContainText('429');
  await expect(page.locator('#upstream_timeout')).toContainText('504');
  await pictures(page, 'docs');
});

test('another partner sees nothing of it', async ({ page, context }) => {
  await context.clearCookies();
  await arrive(page, 'other');
  // The browser logs the 404 as an error; this one is expected.
  page.removeAllListeners('console');
  const answer = await page.goto(url(`/r/${refused.headers()['x-toll-id']}`));
  expect(answer.status()).toBe(404);
});

test('one that is not written yet appears by itself', async ({ page }) => {
  // An id of this moment that no request has: the page waits, and asks again.
  const now = Date.now().toString(16).padStart(12, '0');
  await page.goto(url(`/r/${now.slice(0, 8)}-${now.slice(8)}-7000-8000-000000000001`));
  await expect(page.getByText('This receipt is being written down.')).toBeVisible();
  await pictures(page, 'receipt-waiting');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('everything is there to be read', async ({ page }) => {
    await page.goto(url(`/r/${refused.headers()['x-toll-id']}`));
    await expect(page.getByText('Its way')).toBeVisible();
    await page.goto(url('/portal'));
    await expect(page.getByText('0 of 2 left at once.')).toBeVisible();
    await expect(page.getByRole('link', { name: 'Retried too early', exact: true })).toBeVisible();
    await page.screenshot({ path: 'artefacts/portal-no-scripts.png', fullPage: true });
  });
});
