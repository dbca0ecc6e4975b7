// /ops/requests: the log, newest first, by filters that are in the URL.
import { demo } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });
test.beforeAll(() => { test.setTimeout(120_000); demo(); });

const rows = (page) => page.locator('table.requests tbody tr');

test('a new request appears on top by itself', async ({ page }) => {
  await page.goto(url('/ops/requests?last=15m'));
  await expect(rows(page).first()).toBeVisible();
  const path = `/api/appears-by-itself-${Date.now()}`;
  await page.request.get(url(path));
  await expect(rows(page).filter({ hasText: path })).toBeVisible({ timeout: 20_000 });
});

test('filters are chosen in a form, named in the URL, and taken away one by one', async ({ page }) => {
  await page.goto(url('/ops/requests?last=6h'));
  await page.getByText('Filter', { exact: true }).click();
  await page.locator('select[name=stage]').selectOption('quota');
  await page.locator('select[name=partner]').selectOption('hasty');
  // The page refreshes itself meanwhile, and what is chosen stays chosen.
  await page.waitForResponse((response) => response.url().includes('/ops/requests'));
  await expect(page.locator('select[name=stage]')).toHaveValue('quota');
  await page.getByRole('button', { name: 'Show' }).first().click();
  await expect(page).toHaveURL(/last=6h.*stage=quota.*partner=hasty/);
  const count = await rows(page).count();
  expect(count).toBeGreaterThan(10);
  await expect(rows(page).getByRole('cell', { name: 'hasty' })).toHaveCount(count);
  await expect(page.locator('.verdict')).toContainText('ended at the quota stage');
  await page.getByRole('link', { name: /partner hasty/ }).click();
  await expect(page).toHaveURL(/stage=quota/);
  await expect(page).not.toHaveURL(/hasty/);
});

test('older requests are a link away, and the newest again', async ({ page }) => {
  await page.goto(url('/ops/requests?last=6h&stage=proxy'));
  const first = await rows(page).first().getAttribute('id');
  await page.getByRole('link', { name: 'Older' }).click();
  await expect(page).toHaveURL(/before=/);
  await expect(rows(page).first()).not.toHaveAttribute('id', first);
  await expect(rows(page)).toHaveCount(50);
  await page.getByRole('link', { name: 'Newest' }).click();
  await expect(page).not.toHaveURL(/before=/);
});

test('windows before the log is kept are not offered', async ({ page }) => {
  await page.goto(url('/ops/requests'));
  await expect(page.getByRole('link', { name: '7 d', exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: '30 d', exact: true })).toHaveCount(0);
});

test('it is handsome and accessible at every width, light and dark', async ({ page }) => {
  await page.goto(url('/ops/requests?last=6h&stage=quota&live=off'));
  await pictures(page, 'requests');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the filter works, and each row leads to its receipt', async ({ page }) => {
    await page.goto(url('/ops/requests?last=6h'));
    await page.getByText('Filter', { exact: true }).click();
    await page.locator('input[name=status]').fill('4xx');
    await page.getByRole('button', { name: 'Show' }).first().click();
    await expect(page).toHaveURL(/status=4xx/);
    await expect(rows(page).first().getByRole('link')).toHaveAttribute('href', /^\/r\/[0-9a-f-]{36}$/);
  });
});
