import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { thirdPartyLicences } from './scripts/vite-licences.ts';
import { nodeOptions } from './tests/support/node-options.ts';
import { patience } from './tests/support/patience.ts';

/** `npm test` has built the host. Threads and child processes of the build load in a third of the time that those of the sources take. */
const builtThreads = {
  find: /^(\.\.\/)+(electron\/)?common\/worker-url\.ts$/,
  replacement: fileURLToPath(new URL('tests/support/built-worker-url.ts', import.meta.url)),
};

/** Of every project. A machine with one slow core runs the same tests as a fast one: time ends a test only when it hangs. */
const common = {
  testTimeout: 3 * patience.timeout,
  hookTimeout: 3 * patience.timeout,
  expect: { poll: patience },
  execArgv: nodeOptions,
  tags: [
    {
      name: 'slow',
      description: 'A file of tests that takes more than 1.5 seconds. npm run test:quick leaves it out.',
    },
  ],
  alias: process.env['TOUCHSTONE_BUILT_THREADS'] === '1' ? [builtThreads] : [],
};

/** These replace modules that other files import for real, so each has a process of its own. */
const isolated = ['tests/unit/key-store/keychain-failures.test.ts', 'tests/unit/on-device/spare-cores.test.ts'];

/**
 * Node's fetch sends the parts of a form to a stream whose reader has left, and rejects a promise of its own: a host in memory that
 * rejects a form before its end can't catch that. A listener reads sockets instead.
 */
const isLatePartOfForm = ({ message, stack = '' }: { message: string; stack?: string | undefined }): boolean =>
  message.endsWith('ReadableStream is already closed') && stack.includes('node:internal/deps/undici');

export default defineConfig({
  test: {
    onUnhandledError: (error) => !isLatePartOfForm(error),
    // Tests wait for threads, processes and timers a sixth of the time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['tests/unit/**/*.test.ts'],
          exclude: isolated,
          environment: 'node',
          // A process for each file took a fifth of the time.
          isolate: false,
          unstubEnvs: true,
          unstubGlobals: true,
        },
      },
      { test: { ...common, name: 'unit-isolated', include: isolated, environment: 'node' } },
      {
        plugins: [thirdPartyLicences, react()],
        test: {
          ...common,
          name: 'window',
          include: ['tests/unit/renderer/**/*.test.tsx'],
          environment: 'jsdom',
          isolate: false,
          setupFiles: ['tests/support/patient-window.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'contract',
          include: ['tests/contract/**/*.test.ts'],
          environment: 'node',
          // Each file starts its own hosts. Loading the host again for every file took a fifth of the time.
          isolate: false,
        },
      },
    ],
  },
});
