import { defineConfig } from '@playwright/test';
import suites from '../../playwright.config.ts';

/** The auditor's session on a large data folder; run by `npm run benchmark -- audit-window`. */
export default defineConfig({
  ...suites,
  outputDir: '../../../test-results/audit-window',
  timeout: 240_000,
  reporter: 'line',
  // A trace takes a picture of the page at every key.
  use: { trace: 'off' },
  projects: (suites.projects ?? []).map((project) => ({
    ...project,
    testDir: '.',
    testMatch: `${project.name}.spec.ts`,
  })),
});
