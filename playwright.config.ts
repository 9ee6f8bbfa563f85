import { defineConfig } from '@playwright/test';
import { chromiumForTests } from './scripts/suite-needs.ts';
import { patience } from './tests/support/patience.ts';

const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'tests/e2e',
  // A machine with one slow core runs the same tests as a fast one: time ends a test only when it hangs.
  timeout: 300_000,
  expect: { timeout: patience.timeout },
  forbidOnly: Boolean(process.env['CI']),
  workers: 2,
  // The page before and after each action takes an eighth of the time. A failure has its actions, requests and messages, and its last picture.
  use: {
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false, sources: false },
    screenshot: 'only-on-failure',
  },
  projects: [
    {
      name: 'browser',
      testDir: 'tests/e2e/browser',
      // Of its own: the other project's run would clear away what a failure left.
      outputDir: 'test-results/browser',
      use: {
        browserName: 'chromium',
        viewport: { width: 1280, height: 800 },
        launchOptions: {
          executablePath: chromiumForTests(),
          // Chromium does not start its sandbox as root, which is what a container runs as.
          args: isRoot ? ['--no-sandbox'] : [],
        },
      },
    },
    // Each worker has a display, a keyring and a home folder of its own: windows on one display take the focus from each other.
    { name: 'electron', testDir: 'tests/e2e/electron', outputDir: 'test-results/electron' },
    // On the package that `npm run package -- --for-tests` makes; scripts/run-suites.ts makes it first.
    { name: 'package', testDir: 'tests/e2e/package', outputDir: 'test-results/package' },
  ],
});
