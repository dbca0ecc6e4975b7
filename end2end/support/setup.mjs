// Starts the server that all browser tests share, and stops it when they are done.
import { mkdirSync } from 'node:fs';

import { startToll } from './server.mjs';

export default async function setup() {
  mkdirSync('artefacts', { recursive: true });
  const toll = await startToll();
  process.env.TOLL_E2E_URL = toll.url;
  // For commands that find the server by its settings.
  const settings = Object.entries(toll.env).filter(([name]) => name.startsWith('TOLL_'));
  process.env.TOLL_E2E_ENV = JSON.stringify(Object.fromEntries(settings));
  process.env.TOLL_E2E_INVITATION = toll.invitation;
  return toll.stop;
}
