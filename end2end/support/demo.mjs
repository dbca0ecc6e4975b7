// Traffic with some life in it: `toll demo` against the server that the tests share.
import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const binary = process.env.TOLL_BIN ?? join(root, 'target/release/toll');

/// A past of some hours, and requests for some seconds; returns when they are in the books. A second time it adds to it.
export function demo({ backfill = '6h', seconds = 6, env = JSON.parse(process.env.TOLL_E2E_ENV) } = {}) {
  const args = ['demo', '--minutes', String(seconds / 60)];
  if (backfill) args.push('--backfill', backfill);
  execFileSync(binary, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
}
