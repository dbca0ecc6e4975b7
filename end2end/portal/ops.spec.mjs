// /ops: the funnel of everything, from real requests.
import { demo } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

/// The number in a line of the books.
const count = (page, line) => page.locator('.books').getByRole('row', { name: line }).getByRole('cell').nth(1);
const number = async (cell) => Number((await cell.textContent()).replaceAll(',', ''));

/// Reaches back further than the past that other specs write. Of a shorter window some of it leaves at each full minute, and
/// counts fall.
const day = () => url('/ops?last=24h');

/// Sends what no route answers, and waits until the page counts it.
async function sendAndSee(page, requests = 1) {
  const stopped = count(page, /^No route/);
  const before = await number(stopped);
  for (let n = 0; n < requests; n += 1) {
    expect((await page.request.get(url('/api/no/such/route'))).status()).toBe(404);
  }
  await expect.poll(() => number(stopped), { timeout: 20_000 }).toBe(before + requests);
}

test('a request appears in the books by itself, and nothing is unaccounted', async ({ page }) => {
  await page.goto(day());
  await sendAndSee(page, 3);
  await expect(count(page, /^Unaccounted/)).toHaveText('0');
  await expect(page.locator('.canvas.drawn')).toHaveCount(3);
  await expect(page.getByRole('link', { name: / no such route$/ })).toHaveAttribute('href', /stage=route.*outcome=no(_|%5F)route/);
});

test('what is open stays open while the numbers change', async ({ page }) => {
  await page.goto(day());
  await expect(page.locator('.canvas.drawn')).toHaveCount(3);
  await page.evaluate(() => { document.querySelector('.canvas').mark = 'made once'; });
  await page.locator('.histogram').getByText('As a table').click();
  await sendAndSee(page);
  await expect(page.getByRole('columnheader', { name: 'Latency' })).toBeVisible();
  expect(await page.evaluate(() => document.querySelector('.canvas').mark)).toBe('made once');
});

test('what is being filled in stays while the numbers change, and nothing else', async ({ page }) => {
  await page.goto(day());
  await page.getByText('Custom').click();
  const from = page.getByLabel('From (UTC)');
  const to = page.getByLabel('To (UTC)');
  const leave = () => page.evaluate(() => document.activeElement.blur());

  // In a form that nobody has touched the server's value wins.
  const shown = await from.inputValue();
  await from.evaluate((field) => field.setAttribute('value', '2020-01-01T00:00'));
  await expect.poll(() => from.inputValue(), { timeout: 20_000 }).not.toBe('2020-01-01T00:00');

  await from.fill('2020-02-03T04:05');
  await leave();
  await sendAndSee(page);
  await expect(from).toHaveValue('2020-02-03T04:05');

  // Half a date is no value yet, and still somebody's work.
  await to.focus();
  await page.keyboard.press('Backspace');
  await leave();
  await sendAndSee(page);
  expect(await to.evaluate((field) => field.validity.badInput)).toBe(true);
  await expect(from).toHaveValue('2020-02-03T04:05');
  expect(shown).not.toBe('2020-02-03T04:05');
});

test('a network that went away without a word is tried again', async ({ page }) => {
  test.setTimeout(60_000);
  await page.goto(day());
  const problem = page.getByRole('alert').filter({ hasText: 'Toll cannot be reached' });
  await page.route(day(), () => {});
  await expect(problem).toBeVisible({ timeout: 20_000 });
  await page.unroute(day());
  await sendAndSee(page);
  await expect(problem).toHaveCount(0);
});

test('the window is in the URL', async ({ page }) => {
  await page.goto(url('/ops'));
  await expect(page.getByRole('link', { name: '1 h', exact: true })).toHaveAttribute('aria-current', 'true');
  await page.getByRole('link', { name: '24 h' }).click();
  await expect(page).toHaveURL(url('/ops?last=24h'));
  await expect(page.getByRole('link', { name: '24 h' })).toHaveAttribute('aria-current', 'true');
});

test('a window of long ago is empty, stands still and says so', async ({ page }) => {
  await page.goto(url('/ops?from=2020-01-01T10:00&to=2020-01-01T11:00'));
  await expect(page.getByText('10:00 to 11:00, 1 January 2020 UTC')).toBeVisible();
  await expect(page.getByText('Nothing arrived in this window.')).toBeVisible();
  await expect(page.getByRole('link', { name: /^Live/ })).toHaveCount(0);
});

test('it is handsome and accessible at every width, light and dark', async ({ page }) => {
  test.setTimeout(120_000);
  demo();
  await page.goto(url('/ops'));
  await expect(page.locator('.canvas.drawn')).toHaveCount(3);
  await pictures(page, 'ops');
});

test('a window over two years leaves a phone its margins', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await page.goto(url('/ops?from=2025-12-30T23:59Z&to=2026-01-30T23:59Z'));
  const when = await page.locator('.when').boundingBox();
  expect(when.x + when.width).toBeLessThanOrEqual(390 - 16);
});

test('a path that names nothing says so, with status 404', async ({ page }) => {
  page.on('response', (response) => { if (response.url() === url('/nowhere')) expect(response.status()).toBe(404); });
  // The browser logs the 404 as an error; this one is expected.
  page.removeAllListeners('console');
  await page.goto(url('/nowhere'));
  await expect(page.getByRole('heading', { name: 'There is nothing here.' })).toBeVisible();
  await pictures(page, 'not-found');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the books are there, with links for the window and a form for any other', async ({ page }) => {
    await page.goto(url('/ops'));
    await expect(page.locator('.books').getByRole('rowheader', { name: 'Reached the upstream' })).toBeVisible();
    await expect(count(page, /^Unaccounted/)).toHaveText('0');
    await expect(page.locator('.funnel svg')).toBeVisible();
    await page.getByRole('link', { name: '6 h' }).click();
    await expect(page).toHaveURL(url('/ops?last=6h'));
    await page.getByText('Custom').click();
    // Within what is kept: older windows are not offered.
    const day = new Date(Date.now() - 20 * 86_400_000);
    const date = day.toISOString().slice(0, 10);
    await page.getByLabel('From (UTC)').fill(`${date}T10:00`);
    await page.getByLabel('To (UTC)').fill(`${date}T11:00`);
    await page.getByRole('button', { name: 'Show' }).click();
    const named = `${day.getUTCDate()} ${day.toLocaleString('en', { month: 'long', timeZone: 'UTC' })}`;
    await expect(page.getByText(`10:00 to 11:00, ${named} ${day.getUTCFullYear()} UTC`)).toBeVisible();
    await page.screenshot({ path: 'artefacts/ops-no-scripts.png', fullPage: true });
  });
});
