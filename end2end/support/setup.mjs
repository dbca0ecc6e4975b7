// Starts the server that all browser tests share, and stops it when they are done.
import { mkdirSync } from 'node:fs';

import { startToll } from './server.mjs';

export default async function setup() {
  mkdirSync('artefacts', { recursive: true });
  const toll = await startToll();
  process.env.TOLL_E2E_URL = toll.url;
  process.env.TOLL_E2E_INVITATION = toll.invitation;
  return toll.stop;
}
