// The first operator's way in: the link that `toll serve` prints, a password, the overview.
import { expect, invitation, pictures, test, url } from '../support/page.mjs';
import { accept, password } from '../support/people.mjs';

const email = 'ada@example.com';

test.describe.configure({ mode: 'serial' });

test('a stranger is shown the door, and led back afterwards', async ({ page }) => {
  await page.goto(url('/ops?last=6h'));
  await expect(page).toHaveURL(url('/?next=%2Fops%3Flast%3D6h'));
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  await pictures(page, 'sign-in');
});

test('the printed link makes the first operator, once', async ({ page }) => {
  await page.goto(invitation());
  await pictures(page, 'invite');
  await accept(page, invitation(), email);
  await expect(page).toHaveURL(url('/ops'));
  await expect(page.locator('.books').getByRole('rowheader', { name: 'Arrived' })).toBeVisible();
  await page.context().storageState({ path: 'artefacts/ops.json' });

  const again = await page.request.get(invitation());
  expect(again.status()).toBe(410);
});

test('a wrong password is refused in the words for an unknown address', async ({ page }) => {
  const refusals = [];
  for (const [who, what] of [[email, 'not the password'], ['nobody@example.com', password]]) {
    await page.goto(url('/'));
    await page.getByLabel('E-mail').fill(who);
    await page.getByLabel('Password').fill(what);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).not.toBeEmpty();
    await expect(page.getByLabel('E-mail')).toHaveValue(who);
    await expect(page.getByLabel('Password')).toBeFocused();
    await expect(page).toHaveURL(url('/'));
    refusals.push(await page.getByRole('alert').textContent());
  }
  expect(refusals[0]).toBe('E-mail address or password is wrong.');
  expect(refusals[1]).toBe(refusals[0]);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('signing in leads to where one wanted to go, and out again', async ({ page }) => {
    await page.goto(url('/ops?last=24h'));
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill('wrong at first');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page.getByRole('alert')).toHaveText('E-mail address or password is wrong.');
    await expect(page.getByLabel('E-mail')).toHaveValue(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(url('/ops?last=24h'));

    const cookie = (await page.context().cookies()).find(({ name }) => name === 'toll_session');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' });

    await page.getByText(email).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await expect(page).toHaveURL(url('/'));
    await page.goto(url('/ops'));
    await expect(page).toHaveURL(url('/?next=%2Fops'));
  });
});
