// /ops/audit: whether the books agree, and who changed what.
import { declare } from '../support/toll.mjs';
import { expect, pictures, test, url } from '../support/page.mjs';

test.beforeAll(() => {
  const plan = (capacity) => declare(`[[plan]]\nname = "audited"\ncapacity = ${capacity}\nrefill_per_second = 1.0\n`);
  plan(60);
  plan(90);
});

test('the books agree, and a recount with the log says so too', async ({ page }) => {
  for (const _ of [1, 2]) await page.request.get(url('/api/no/such/route'));
  await page.goto(url('/ops/audit'));
  await expect(page.getByText('Door and rollups agree')).toBeVisible({ timeout: 20_000 });
  await page.getByRole('link', { name: /^Recount/ }).click();
  await expect(page).toHaveURL(/recount=on/);
  await expect(page.getByText(/^Door, rollups and log agree on all/)).toBeVisible();
  await expect(page.getByRole('row', { name: /living/ })).toHaveCount(1);
});

test('a change is there with before, after and who made it', async ({ page }) => {
  await page.goto(url('/ops/audit?what=plan'));
  const row = page.getByRole('row', { name: /plan audited/ }).first();
  await expect(row).toContainText('toll apply');
  await expect(row).toContainText('60 → 90');
  await pictures(page, 'audit');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('kinds of changes are links', async ({ page }) => {
    await page.goto(url('/ops/audit'));
    await page.getByRole('navigation', { name: 'Kind of change' }).getByRole('link', { name: 'person' }).click();
    await expect(page).toHaveURL(/what=person/);
    await expect(page.getByRole('row', { name: /person ada@example.com/ })).toBeVisible();
  });
});
