// /ops/upstreams: doors, shut by failures and by hand.
import { demo } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });
test.beforeAll(() => { test.setTimeout(120_000); demo(); });

const door = (page, name) => page.getByRole('region', { name, exact: true });

test('a door that failures shut says why and whom it held back', async ({ page }) => {
  await page.goto(url('/ops/upstreams?last=1h'));
  await expect(page.getByRole('heading', { name: 'Shut doors' })).toBeVisible();
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

  test('an operator shuts a door and opens it again', async ({ page }) => {
    await page.goto(url('/ops/upstreams'));
    // One that has not failed: outages that share a minute are told together.
    const name = 'orders';
    await door(page, name).getByText('Shut by hand').click();
    await door(page, name).getByLabel('For').selectOption('10 minutes');
    await door(page, name).getByRole('button', { name: 'Shut the door' }).click();
    await expect(door(page, name).locator('.door-state')).toContainText('Shut; tried again at');
    await expect(page.locator('.outages')).toContainText('shut by ada@example.com for 10 minutes');
    await door(page, name).getByRole('button', { name: 'Open the door now' }).click();
    await expect(door(page, name).locator('.door-state')).toHaveText(/^Open/);
  });
});
