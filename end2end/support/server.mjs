// A real `toll serve` on free ports, with a private PostgreSQL in a folder that is thrown away.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { binary, root } from './toll.mjs';

export function freePort() {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/// Resolves to `{ url, env, invitation, stop }` once the server answers.
export async function startToll({ patience = 90_000 } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'toll-e2e-'));
  // Run as root, PostgreSQL becomes another user, who must get in.
  chmodSync(data, 0o755);
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = {
    ...process.env,
    TOLL_LISTEN: new URL(url).host,
    TOLL_ADMIN_LISTEN: `127.0.0.1:${await freePort()}`,
    TOLL_DATA_DIR: data,
    TOLL_PUBLIC_URL: url,
  };
  delete env.DATABASE_URL;
  const child = spawn(binary, ['serve'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => { output += text; });
  }
  const ended = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
    return output;
  };
  const until = Date.now() + patience;
  while (Date.now() < until && child.exitCode === null) {
    const invitation = output.match(/\/invite\/[0-9a-f]{64}/)?.[0];
    if (invitation && (await answers(`${url}/healthz`))) return { url, env, invitation: url + invitation, stop };
    await new Promise((done) => setTimeout(done, 100));
  }
  await stop();
  throw new Error(`toll serve did not come up:\n${output}`);
}

async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
