// Letting people go, withdrawing invitations, and one's own account; with scripts and without.
import { expect, pictures, test, url } from '../support/page.mjs';
import { accept, arrive, password } from '../support/people.mjs';
import { openShop } from '../support/shop.mjs';
import { toll } from '../support/toll.mjs';

let shop;
test.beforeAll(async () => {
  shop = await openShop('teams', { partners: ['teams'] });
});
test.afterAll(() => shop.close());

/// A browser of somebody else's, signed in by what `enter` does.
async function another(browser, enter) {
  const context = await browser.newContext({ storageState: undefined });
  const page = await context.newPage();
  await enter(page);
  return page;
}

const inviteOperator = (email) => toll(['users', 'invite', '--email', email, '--role', 'ops']);
const row = (page, email) => page.getByRole('row', { name: new RegExp(`^${email}`) });

async function remove(page, email) {
  await row(page, email).getByText('Remove', { exact: false }).first().click();
  await page.getByRole('button', { name: `Remove ${email}` }).click();
  await expect(row(page, email)).toHaveCount(0);
}

test('an operator invites, withdraws, and removes another one, who is out at once', async ({ page, browser }) => {
  await page.goto(url('/ops'));
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByLabel('E-mail').fill('olga@example.com');
  await page.getByRole('button', { name: 'Make a link' }).click();
  await expect(page.getByRole('heading', { name: 'A link for olga@example.com' })).toBeVisible();
  await pictures(page, 'operators-link');
  await expect(row(page, 'olga@example.com')).toContainText('invited, link ends in 3 days');
  await page.getByRole('button', { name: 'Withdraw the invitation of olga@example.com' }).click();
  await expect(row(page, 'olga@example.com')).toHaveCount(0);

  const olga = await another(browser, (other) => accept(other, inviteOperator('olga@example.com')));
  await page.reload();
  await row(page, 'olga@example.com').getByText('Remove', { exact: false }).first().click();
  await pictures(page, 'operators');
  await page.getByRole('button', { name: 'Remove olga@example.com' }).click();
  await expect(row(page, 'olga@example.com')).toHaveCount(0);
  await olga.reload();
  await expect(olga).toHaveURL(/\/\?next=/);
  await olga.context().close();
});

test('a partner\'s page lets its people go', async ({ page, browser }) => {
  const jill = await another(browser, (other) => arrive(other, 'teams', { email: 'jill@teams.example' }));
  await page.goto(url('/ops/partners/teams'));
  await pictures(page, 'partner-people');
  await remove(page, 'jill@teams.example');
  await jill.reload();
  await expect(jill).toHaveURL(/\/\?next=/);
  await jill.context().close();
});

test.describe('by themselves', () => {
  test.use({ storageState: { cookies: [], origins: [] } });

  test('another password ends every other session, and the account is one click from every page', async ({ page, browser }) => {
    const email = 'mia@teams.example';
    await arrive(page, 'teams', { email });
    const elsewhere = await another(browser, async (other) => {
      await other.goto(url('/'));
      await other.getByLabel('E-mail').fill(email);
      await other.getByLabel('Password').fill(password);
      await other.getByRole('button', { name: 'Sign in' }).click();
      await expect(other).toHaveURL(url('/portal'));
    });
    await page.getByText(email).click();
    await page.getByRole('link', { name: 'Account and password' }).click();
    await expect(page.getByText('signed in here and in 1 other browser')).toBeVisible();
    await pictures(page, 'account');
    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password').fill('ten lives are better');
    await page.getByRole('button', { name: 'Change password' }).click();
    await expect(page.getByRole('alert')).toHaveText('The current password is wrong.');
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill('ten lives are better');
    await page.getByRole('button', { name: 'Change password' }).click();
    await expect(page.getByText('Your password is changed')).toBeVisible();
    await elsewhere.reload();
    await expect(elsewhere).toHaveURL(/\/\?next=/);
    await elsewhere.context().close();
  });
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false, storageState: { cookies: [], origins: [] } });

  test('a colleague is removed, an invitation withdrawn, and one signs out everywhere', async ({ page, browser }) => {
    await arrive(page, 'teams', { email: 'noa@teams.example' });
    const omar = await another(browser, (other) => arrive(other, 'teams', { email: 'omar@teams.example' }));
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('E-mail').fill('pia@teams.example');
    await page.getByRole('button', { name: 'Make a link' }).click();
    const link = await page.locator('.secret code').textContent();
    await page.getByRole('button', { name: 'Withdraw the invitation of pia@teams.example' }).click();
    expect((await page.request.get(link)).status()).toBe(410);
    await remove(page, 'omar@teams.example');
    await omar.reload();
    await expect(omar).toHaveURL(/\/\?next=/);
    await omar.context().close();

    await page.getByText('noa@teams.example').first().click();
    await page.getByRole('link', { name: 'Account and password' }).click();
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await expect(page).toHaveURL(url('/'));
    await page.goto(url('/account'));
    await expect(page).toHaveURL(url('/?next=%2Faccount'));
  });
});
