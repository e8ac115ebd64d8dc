import { defineConfig } from '@playwright/test';

/** Debian's Chromium unless another one is named. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** What needs a server with other options than the usual one, or without others' jobs. */
const OWN_SERVER = ['devices', 'jobs', 'plans', 'wayOut', 'without'].map(
  name => `${name}.spec.ts`
);

export default defineConfig({
  testDir: __dirname,
  // Those that share a server come one after the other: each change of server costs a start of it and of a worker.
  projects: [
    { name: 'usual', testIgnore: OWN_SERVER },
    { name: 'own server', testMatch: OWN_SERVER }
  ],
  outputDir: `${__dirname}/test-results`,
  // Until a test gives up; on a machine that is not busy it takes a tenth.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  // Each test has a server of its own; side by side they would only wait for the processor.
  workers: 1,
  // A browser beside a busy machine can be late by itself: a second try, told as "flaky" with the first one's picture.
  retries: 1,
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1400, height: 1000 },
    locale: 'en-US',
    screenshot: 'only-on-failure',
    // A click on what is not there is told as that, long before the test's own end.
    actionTimeout: 120_000,
    launchOptions: {
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync'
      ]
    }
  }
});
