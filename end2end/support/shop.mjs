// A shop of its own for the partner's pages: an upstream that answers, a plan, partners, and commands of `toll`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from './page.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const binary = process.env.TOLL_BIN ?? join(root, 'target/release/toll');

export const password = 'nine lives are enough';

/// Runs `toll` against the server that the tests share; gives what it printed.
export function toll(...args) {
  const env = { ...process.env, ...JSON.parse(process.env.TOLL_E2E_ENV) };
  return execFileSync(binary, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/// An upstream and partners whose plan takes `capacity` requests and refills slowly. Ends with `close()`.
export async function openShop(name, { partners, capacity = 60, refill = 1, maxKeys = 3, signUp = false }) {
  const upstream = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ path: request.url }));
  });
  await new Promise((done) => upstream.listen(0, '127.0.0.1', done));
  const file = join(mkdtempSync(join(tmpdir(), 'toll-shop-')), 'catalog.toml');
  writeFileSync(file, `
[[upstream]]
name = "${name}"
urls = ["http://127.0.0.1:${upstream.address().port}"]

[[plan]]
name = "${name}"
capacity = ${capacity}
refill_per_second = ${refill}
max_keys = ${maxKeys}
routes = ["${name}"]
sign_up = ${signUp}

[[route]]
name = "${name}"
path = "/${name}"
upstream = "${name}"
methods = ["GET", "HEAD"]
${partners.map((slug) => `
[[partner]]
slug = "${slug}"
name = "${slug.toUpperCase()}"
plan = "${name}"
`).join('')}`);
  toll('apply', file);
  return { close: () => upstream.close() };
}

/// Signs a new person of the partner in, by an invitation.
export async function arrive(page, partner, email = `bob@${partner}.example`) {
  await page.goto(toll('users', 'invite', '--email', email, '--role', 'partner', '--partner', partner));
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page).toHaveURL(/\/portal$/);
}
