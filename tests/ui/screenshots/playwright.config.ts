import config from '../playwright.config';

/** The pictures of the documentation: `jlpm screenshots`. */
export default {
  ...config,
  testDir: __dirname,
  projects: [
    {
      name: 'pictures',
      testMatch: ['panel.ts', 'cards.ts', 'refusal.ts', 'runs.ts', 'states.ts']
    }
  ],
  outputDir: `${__dirname}/../test-results/screenshots`,
  timeout: 300_000
};
