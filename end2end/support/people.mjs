// People who come to the portal by a one-time link.
import { invite } from './toll.mjs';

export const password = 'nine lives are enough';

/// Sets a password by an invitation, which signs in. The first operator's names no address, so it takes one.
export async function accept(page, link, email = '') {
  await page.goto(link);
  if (email) await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.waitForURL(/\/(ops|portal)$/);
}

/// Signs a new person of the partner in.
export async function arrive(page, partner, { email = `bob@${partner}.example`, env } = {}) {
  await accept(page, invite(partner, email, env));
}
