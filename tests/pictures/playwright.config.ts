import { defineConfig } from '@playwright/test';
import suites from '../../playwright.config.ts';

/** Takes the pictures of the README; `npm run tool -- pictures` runs it. */
export default defineConfig({
  ...suites,
  outputDir: '../../test-results/pictures',
  reporter: 'line',
  workers: 1,
  use: { trace: 'off', colorScheme: 'light', contextOptions: { reducedMotion: 'reduce' } },
  projects: (suites.projects ?? [])
    .filter(({ name }) => name === 'browser')
    .map((project) => ({ ...project, testDir: '.' })),
});
