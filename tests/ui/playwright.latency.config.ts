import config from './playwright.config';

/** From a printed line to the screen, in milliseconds: `jlpm latency`. */
export default {
  ...config,
  testMatch: 'latency.ts',
  outputDir: `${__dirname}/test-results/latency`,
  timeout: 300_000
};
