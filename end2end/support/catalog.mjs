// The catalog and keys of the server that all browser tests share, made by the commands that operators use.
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const binary = process.env.TOLL_BIN ?? join(root, 'target/release/toll');

/// `toll ARGUMENTS…` beside the running server; returns what it prints.
export function toll(args, input = '') {
  const env = { ...process.env, ...JSON.parse(process.env.TOLL_E2E_ENV) };
  return execFileSync(binary, args, { cwd: root, env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] });
}

/// Declares what a file for `toll apply` says.
export const declare = (text) => toll(['apply', '-'], text);

/// A new key of a partner: its text.
export const newKey = (partner, name) => toll(['keys', 'create', '--partner', partner, '--name', name]).trim();
