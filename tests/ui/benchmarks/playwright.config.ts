import config from '../playwright.config';

/** What the interface costs in a browser: `jlpm bench:ui`, of one program `jlpm bench:ui typing`. */
export default {
  ...config,
  testDir: __dirname,
  projects: [{ name: 'benchmarks', testMatch: '*.bench.ts' }],
  outputDir: `${__dirname}/../test-results/benchmarks`,
  timeout: 1_800_000,
  retries: 0,
  use: { ...config.use, actionTimeout: 60_000 }
};
