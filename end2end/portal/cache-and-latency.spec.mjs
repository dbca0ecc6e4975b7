// /ops/cache and /ops/latency.
import { demo } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });
test.beforeAll(() => { test.setTimeout(120_000); demo(); });

test('the cache says what it saved, and why it did not', async ({ page }) => {
  await page.goto(url('/ops/cache?last=6h&live=off'));
  await expect(page.locator('.verdict')).toContainText(/were served from cache/);
  await expect(page.locator('.cache-use tbody tr').first()).toContainText(/asked for the first time|no longer fresh/);
  await pictures(page, 'cache');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('an operator purges, and is told what cannot be', async ({ page }) => {
    await page.goto(url('/ops/cache?last=6h'));
    await page.getByLabel('Path or tag').fill('/orders/7');
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect(page.getByRole('alert').last()).toContainText('a path behind the gateway begins with /api/');
    await page.getByLabel('Path or tag').fill('/api/orders/7');
    await page.getByRole('button', { name: 'Purge' }).click();
    await expect(page).toHaveURL(url('/ops/cache?last=6h'));
    await expect(page.locator('.purges tbody tr').first()).toContainText('/api/orders/7');
    await expect(page.locator('.purges tbody tr').first()).toContainText('ada@example.com');
    await expect(page.getByRole('alert').last()).toBeEmpty();
  });
});

test('latency is told by stage, route and time', async ({ page }) => {
  await page.goto(url('/ops/latency?last=6h&live=off'));
  // One number for one thing: the first line says what the figures below it say.
  const p95 = await page.locator('.percentiles div').filter({ hasText: 'p95' }).locator('dd').textContent();
  await expect(page.locator('.verdict')).toContainText(`p95 ${p95}`);
  await expect(page.getByRole('heading', { name: /Where the time goes/ })).toBeVisible();
  await expect(page.locator('.latency-map path.p95')).toHaveAttribute('d', /M/);
  await pictures(page, 'latency');
  await page.locator('.route-times a').first().click();
  await expect(page).toHaveURL(/route=/);
  await expect(page.getByRole('link', { name: 'All routes' })).toBeVisible();
});
