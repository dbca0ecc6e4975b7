// Commands of `toll` beside a running server: the one that all browser tests share, or one of a test's own.
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const binary = process.env.TOLL_BIN ?? join(root, 'target/release/toll');

/// The settings by which commands find the server that all tests share.
const shared = () => JSON.parse(process.env.TOLL_E2E_ENV);

/// Runs `toll ARGUMENTS…` against the server of these settings; gives what it printed.
export function toll(args, { input = '', env = shared() } = {}) {
  return execFileSync(binary, args, { cwd: root, env: { ...process.env, ...env }, input, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/// Declares what a file for `toll apply` says.
export const declare = (text, env) => toll(['apply', '-'], { input: text, env });

/// A new key of a partner: its text.
export const newKey = (partner, name, env) => toll(['keys', 'create', '--partner', partner, '--name', name], { env });

/// A link by which somebody of a partner sets a password.
export const invite = (partner, email, env) => toll(['users', 'invite', '--email', email, '--role', 'partner', '--partner', partner], { env });

/// A link for a lost password.
export const resetLink = (email, env) => toll(['users', 'reset', '--email', email], { env });

/// Traffic with some life in it: a past of some hours, and requests for some seconds; returns when they are in the books. A
/// second time it adds to it.
export function demo({ backfill = '6h', seconds = 6, env } = {}) {
  const args = ['demo', '--minutes', String(seconds / 60)];
  if (backfill) args.push('--backfill', backfill);
  toll(args, { env });
}
