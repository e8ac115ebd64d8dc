import config from './playwright.config';

/** The pictures of the documentation: `jlpm screenshots`. */
export default {
  ...config,
  projects: [{ name: 'pictures', testMatch: 'screenshots*.ts' }],
  outputDir: `${__dirname}/test-results/screenshots`,
  timeout: 300_000
};
