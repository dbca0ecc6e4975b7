// Browser tests against a real `toll serve`: `make test`, or `npx playwright test` here once `make build` has run.
import { existsSync } from 'node:fs';

import { defineConfig } from '@playwright/test';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export default defineConfig({
  testDir: 'portal',
  testMatch: '*.spec.mjs',
  outputDir: 'test-results',
  globalSetup: './support/setup.mjs',
  reporter: [['list']],
  timeout: 30_000,
  forbidOnly: Boolean(process.env.CI),
  // One server, one database: the tests share the traffic they see.
  workers: 1,
  use: {
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: chromium,
      // Chromium's sandbox does not work for root.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
  projects: [
    { name: 'arrival', testMatch: 'arrival.spec.mjs' },
    { name: 'screens', testIgnore: 'arrival.spec.mjs', dependencies: ['arrival'], use: { storageState: 'artefacts/ops.json' } },
  ],
});
