// /ops/partners: creating a partner, inviting its people, suspending it.
import { declare, newKey } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.describe.configure({ mode: 'serial' });

test.beforeAll(() => {
  declare(`
[[upstream]]
name = "nowhere"
urls = ["http://127.0.0.1:9"]

[[plan]]
name = "tiny"
capacity = 3
refill_per_second = 0.01

[[plan]]
name = "roomy"
capacity = 600
refill_per_second = 10.0

[[route]]
name = "partners-test"
path = "/partners-test"
upstream = "nowhere"
`);
});

test('what is refused is told, and what was typed is still there', async ({ page }) => {
  await page.goto(url('/ops/partners'));
  await page.getByRole('link', { name: 'New partner' }).click();
  await page.getByLabel('Slug').fill('No Slug');
  await page.getByLabel('Name', { exact: true }).fill('Umbrella');
  await page.getByRole('button', { name: 'Create partner' }).click();
  await expect(page.getByRole('alert')).toContainText('is no name');
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Umbrella');
  await pictures(page, 'partner-new');
});

test('a partner is created, and its requests are in its own books', async ({ page }) => {
  await page.goto(url('/ops/partners/new'));
  await page.getByLabel('Slug').fill('umbrella');
  await page.getByLabel('Name', { exact: true }).fill('Umbrella');
  await page.getByLabel('Plan').selectOption('tiny');
  await page.getByRole('button', { name: 'Create partner' }).click();
  await expect(page).toHaveURL(url('/ops/partners/umbrella'));

  const key = newKey('umbrella', 'Production');
  for (let n = 0; n < 5; n += 1) await page.request.get(url('/api/partners-test'), { headers: { 'X-Api-Key': key } });
  const quota = page.locator('.books').getByRole('row', { name: /^Quota/ });
  await expect(quota.getByRole('cell').nth(1)).toHaveText('2', { timeout: 20_000 });
  await expect(page.locator('.verdict')).toHaveText(/^What was refused, why, and who must act is told below\. None of 5 requests/);
  await expect(page.locator('.refusals').getByRole('row', { name: /^Quota spent/ }).locator('.who-acts')).toHaveText('the partner');
  const reason = quota.locator('.why').getByRole('link').first();
  await expect(reason).toHaveAttribute('href', /\/ops\/requests\?.*partner=umbrella.*stage=quota.*outcome=quota/);
  await pictures(page, 'partner');
});

test('a link for one of its people is shown once', async ({ page }) => {
  await page.goto(url('/ops/partners/umbrella'));
  await page.getByText('Invite a person').click();
  await page.getByLabel('E-mail').fill('jill@umbrella.example');
  await page.getByRole('button', { name: 'Make a link' }).click();
  await expect(page.getByRole('heading', { name: 'A link for jill@umbrella.example' })).toBeVisible();
  await pictures(page, 'partner-link');
  await page.goto(url('/ops/partners/umbrella'));
  await expect(page.getByText('invited, link ends in')).toBeVisible();
});

test('the list finds it, with what it sent', async ({ page }) => {
  await page.goto(url('/ops/partners'));
  await page.getByLabel('Slug or name').fill('UMB');
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(page).toHaveURL(/search=UMB/);
  await expect(page.getByRole('row', { name: /Umbrella/ })).toContainText('tiny');
  await pictures(page, 'partners');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('it is suspended after a question, its keys are refused, and it is let in again', async ({ page, request }) => {
    const key = newKey('umbrella', 'Second');
    const outcome = async () => (await request.get(url('/api/partners-test'), { headers: { 'X-Api-Key': key } })).headers()['x-toll-outcome'];
    await page.goto(url('/ops/partners/umbrella'));
    await page.getByText('Suspend', { exact: true }).click();
    await page.getByRole('button', { name: 'Suspend umbrella' }).click();
    await expect(page.getByText('suspended', { exact: true })).toBeVisible();
    await expect.poll(outcome).toBe('partner_suspended');
    await page.getByRole('button', { name: 'Let it in again' }).click();
    await expect(page.getByText('suspended', { exact: true })).toHaveCount(0);
    await expect.poll(outcome).not.toBe('partner_suspended');
  });

  test('it is put on another plan, and a key is revoked', async ({ page }) => {
    await page.goto(url('/ops/partners/umbrella'));
    await page.getByText('Change plan', { exact: true }).first().click();
    await page.getByLabel('Plan', { exact: true }).selectOption('roomy');
    await page.getByRole('button', { name: 'Change plan' }).click();
    await expect(page.locator('.quota-now').getByText('of 600 left at once')).toBeVisible();
    const row = page.getByRole('row', { name: /Second/ });
    await row.locator('summary').click();
    await row.getByRole('button', { name: 'Revoke this key' }).click();
    await expect(page.getByRole('row', { name: /Second/ })).toContainText('revoked');
  });
});
