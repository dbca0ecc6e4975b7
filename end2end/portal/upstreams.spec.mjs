// /ops/upstreams: breakers, opened by failures and by hand.
import { demo } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });
test.beforeAll(() => { test.setTimeout(120_000); demo(); });

const upstream = (page, name) => page.getByRole('region', { name, exact: true });

test('a breaker that failures opened says why and whom it held back', async ({ page }) => {
  await page.goto(url('/ops/upstreams?last=1h'));
  await expect(page.getByRole('heading', { name: 'Outages' })).toBeVisible();
  const row = page.locator('.outages tbody tr').first();
  await expect(row).toContainText(/failures in/);
  // The number leads to as many requests.
  const held = page.locator('.outages a').first();
  const number = await held.textContent();
  await held.click();
  await expect(page).toHaveURL(/stage=breaker.*upstream=/);
  await expect(page.locator('.verdict')).toContainText(new RegExp(`^${number} `));
});

test('it is handsome and accessible at every width, light and dark', async ({ page }) => {
  await page.goto(url('/ops/upstreams?last=1h&live=off'));
  await expect(page.locator('.canvas.drawn').first()).toBeVisible();
  await pictures(page, 'upstreams');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('an operator opens a breaker and closes it again', async ({ page }) => {
    await page.goto(url('/ops/upstreams'));
    const name = 'orders';
    await upstream(page, name).getByText('Open by hand').click();
    await upstream(page, name).getByLabel('For').selectOption('10 minutes');
    await upstream(page, name).getByRole('button', { name: 'Open the breaker' }).click();
    await expect(upstream(page, name).locator('.breaker-state')).toContainText('Breaker open; to be tried again at');
    await expect(page.locator('.outages')).toContainText('opened by ada@example.com for 10 minutes');
    await upstream(page, name).getByRole('button', { name: 'Close the breaker now' }).click();
    await expect(upstream(page, name).locator('.breaker-state')).toHaveText(/^Breaker closed/);
  });
});
