// /portal/keys: a partner makes, rotates, renames and revokes keys; a key is shown once.
import { expect, pictures, test, url } from '../support/page.mjs';
import { arrive } from '../support/people.mjs';
import { openShop } from '../support/shop.mjs';

test.describe.configure({ mode: 'serial' });
test.use({ storageState: { cookies: [], origins: [] }, permissions: ['clipboard-read', 'clipboard-write'] });

let shop;
let state;
test.beforeAll(async ({ browser }) => {
  shop = await openShop('keyshop', { partners: ['keyed'], maxKeys: 2 });
  const context = await browser.newContext();
  await arrive(await context.newPage(), 'keyed');
  state = await context.storageState();
  await context.close();
});
test.afterAll(() => shop.close());
test.beforeEach(async ({ context }) => { await context.addCookies(state.cookies); });

const dialog = (page) => page.getByRole('dialog');
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

test('the dialog becomes the reveal: masked, Copy has the focus, and closing without copying asks first', async ({ page }) => {
  await page.goto(url('/portal/keys'));
  await expect(page.getByText('You have no key yet.')).toBeVisible();
  await page.getByRole('link', { name: 'Create a key' }).click();
  await expect(dialog(page).getByText('In use: 0 of 2 keys')).toBeVisible();
  await expect(dialog(page).getByLabel('30 days')).toBeChecked();
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
  await pictures(page, 'key-create');
  await page.keyboard.type('Production');
  await page.keyboard.press('Enter');

  await expect(dialog(page).getByRole('heading', { name: 'Production is ready' })).toBeVisible();
  const shown = dialog(page).locator('.secret code');
  await expect(shown).toHaveText(/^toll_\w{5}•+$/);
  await expect(dialog(page).getByRole('button', { name: 'Copy the key' })).toBeFocused();
  await pictures(page, 'key-reveal');

  await page.keyboard.press('Escape');
  await expect(dialog(page).getByText('You have not copied it')).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Back to it' }).click();
  // Dots that are selected by hand are copied as what they stand for.
  await shown.selectText();
  await page.keyboard.press('ControlOrMeta+c');
  await expect(dialog(page).getByText('Copied', { exact: true })).toBeVisible();
  const selected = await clipboard(page);
  await dialog(page).getByRole('button', { name: 'Show the key' }).click();
  const key = await shown.textContent();
  expect(key).toMatch(/^toll_[0-9A-Za-z]{38}$/);
  expect(selected).toBe(key);
  await dialog(page).getByRole('button', { name: 'Copy the key' }).click();
  await expect(dialog(page).getByText('Copied', { exact: true })).toBeVisible();
  expect(await clipboard(page)).toBe(key);

  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('row', { name: /^Production/ })).toContainText(`${key.slice(0, 10)}…`);
  await expect(page.getByText('1 of 2 keys is in use.')).toBeVisible();
  expect(await page.content()).not.toContain(key);
  const answer = await page.request.get(url('/api/keyshop/1'), { headers: { 'x-api-key': key } });
  expect(answer.status()).toBe(200);
  await expect(page.getByRole('row', { name: /^Production/ })).toContainText('just now', { timeout: 15_000 });
  await pictures(page, 'keys');
});

test('a key is renamed, and rotated with an overlap', async ({ page }) => {
  await page.goto(url('/portal/keys'));
  await page.getByRole('link', { name: 'Rename Production' }).click();
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Shop');
  await dialog(page).getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('row', { name: /^Shop/ })).toBeVisible();

  await page.getByRole('link', { name: 'Rotate Shop' }).click();
  for (const overlap of ['ends now', '15 minutes', '1 hour', '24 hours']) {
    await expect(dialog(page).getByLabel(overlap)).toBeVisible();
  }
  await dialog(page).getByLabel('24 hours').check();
  await dialog(page).getByRole('button', { name: 'Rotate' }).click();
  await expect(dialog(page).getByRole('heading', { name: 'The successor of Shop is ready' })).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Copy the curl command' }).click();
  await expect(dialog(page).getByText('Copied', { exact: true })).toBeVisible();
  expect(await clipboard(page)).toMatch(/^curl -i -H 'X-Api-Key: toll_[0-9A-Za-z]{38}' 'http.*\/api\/keyshop'$/);
  await dialog(page).getByRole('link', { name: 'Done' }).click();
  await expect(page.getByText(/replaced, ends in (24 hours|23 hours|1 day)/)).toBeVisible();
  await expect(page.getByText('1 of 2 keys is in use.')).toBeVisible();
});

test('what cannot be done is said in the dialog', async ({ page }) => {
  await page.goto(url('/portal/keys'));
  await page.getByRole('link', { name: 'Create a key' }).click();
  await dialog(page).getByLabel('Name').fill('   ');
  await dialog(page).getByRole('button', { name: 'Create key' }).click();
  await expect(dialog(page).getByRole('alert')).toHaveText(/A key's name has 1 to 100 visible characters/);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the answer to the form is the reveal, the limit is said before, and a key is revoked', async ({ page }) => {
    await page.goto(url('/portal/keys'));
    await page.getByRole('link', { name: 'Create a key' }).click();
    await expect(page).toHaveURL(url('/portal/keys/new'));
    await page.getByLabel('Name').fill('By hand');
    await page.getByLabel('never').check();
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Create key' }).click();
    expect((await answered).headers()['cache-control']).toContain('no-store');
    await expect(page.locator('.secret code')).toHaveText(/^toll_[0-9A-Za-z]{38}$/);
    await page.screenshot({ path: 'artefacts/key-reveal-no-scripts.png', fullPage: true });

    await page.getByRole('link', { name: 'Done' }).click();
    await expect(page.getByText('All 2 keys of your plan are in use.')).toBeVisible();
    await page.getByRole('link', { name: 'Create a key' }).click();
    await expect(page.getByRole('heading', { name: 'No more keys' })).toBeVisible();
    await page.goto(url('/portal/keys'));
    await page.getByRole('link', { name: 'Revoke By hand' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await expect(page).toHaveURL(url('/portal/keys'));
    await expect(page.getByRole('row', { name: /^By hand/ })).toContainText('revoked');
  });
});
