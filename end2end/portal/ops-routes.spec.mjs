// /ops/routes: making, changing and switching a route.
import { declare } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });

test.beforeAll(() => declare('[[upstream]]\nname = "shelf"\nurls = ["http://127.0.0.1:9"]\n'));

const outcome = async (page) => (await page.request.get(url('/api/shelf'))).headers()['x-toll-outcome'];

test('a route that is refused says why, by the rules of the file', async ({ page }) => {
  await page.goto(url('/ops/routes'));
  await page.getByRole('link', { name: 'New route' }).click();
  await page.getByLabel('Name').fill('shelf');
  await page.getByLabel('Path', { exact: true }).fill('shelf');
  await page.getByLabel('Upstream').selectOption('shelf');
  await page.getByRole('button', { name: 'Create route' }).click();
  await expect(page.getByRole('alert')).toContainText('it does not begin with "/"');
  await expect(page.getByLabel('Name')).toHaveValue('shelf');
  await pictures(page, 'route-new');
});

test('a route is created, and answers within a second', async ({ page }) => {
  await page.goto(url('/ops/routes/new'));
  await page.getByLabel('Name').fill('shelf');
  await page.getByLabel('Path', { exact: true }).fill('/shelf');
  await page.getByLabel('Upstream').selectOption('shelf');
  await page.getByLabel('Who may call').selectOption('public');
  await page.getByRole('button', { name: 'Create route' }).click();
  await expect(page).toHaveURL(url('/ops/routes'));
  await expect.poll(() => outcome(page)).toBe('upstream_unreachable');
  await expect.poll(async () => Number(await page.locator('#route-shelf td').nth(1).textContent()), { timeout: 20_000 }).toBeGreaterThan(0);
  await pictures(page, 'routes');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('a route is switched off and on, and changed', async ({ page }) => {
    await page.goto(url('/ops/routes?last=6h'));
    await page.getByRole('button', { name: 'Switch off shelf' }).click();
    await expect(page).toHaveURL(url('/ops/routes?last=6h'));
    await expect(page.locator('#route-shelf')).toContainText('off');
    await expect.poll(() => outcome(page)).toBe('route_off');
    await page.getByRole('button', { name: 'Switch on shelf' }).click();
    await expect.poll(() => outcome(page)).not.toBe('route_off');

    await page.getByRole('link', { name: 'shelf', exact: true }).click();
    await page.getByLabel('Methods').fill('GET, HEAD');
    await page.getByLabel('Cache answers').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page).toHaveURL(url('/ops/routes'));
    await expect.poll(async () => (await page.request.post(url('/api/shelf'))).headers()['x-toll-outcome']).toBe('method_not_allowed');
  });
});
