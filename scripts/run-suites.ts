// npm test runs every suite, npm run test:quick what takes little time; npm run test:package and npm run test:faults run the full form of one.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from './run-built.mjs';
import { faultBenchmarks, faultTests } from './fault-tests.ts';
import { failedInPlaywright, failedInVitest, type PlaywrightReport, type VitestReport } from './failed-tests.ts';
import { root, runToEnd } from './project-node.mjs';
import {
  missingWatchers,
  namedAddresses,
  readRecording,
  startRecording,
  unnamedContacts,
  type WatchedProgram,
} from './recorded-connections.ts';
import { obstacleTo } from './suite-needs.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const reports = join(root, 'test-results/reports');
// Node's cache of compiled modules without types, for threads and for hosts that tests start.
process.env['NODE_COMPILE_CACHE'] ??= join(root, '.cache/compiled');
process.env['TOUCHSTONE_BUILT_THREADS'] = '1';
const suite = process.argv[2] ?? 'all';
/** `npm run test:package` and `npm run test:faults` name one suite and run its full form. */
const isFull = suite === 'package' || suite === 'faults';
if (isFull) process.env['TOUCHSTONE_FULL_SUITE'] = '1';
const mustRunAll = process.env['TOUCHSTONE_REQUIRE_ALL_SUITES'] === '1';

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function readReport<Report>(file: string): Report | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return null;
  }
}

/** All failures of all suites, repeated at the end: above it a log has thousands of lines. */
const failures: string[] = [];

/** A runner that fails without a failed test, or without a report, counts as one failure. */
function withStatus(runner: string, counts: Counts | null, status: number): Counts {
  if (counts && (status === 0 || counts.failed > 0)) return counts;
  failures.push(`${runner} ended with status ${status} and names no failed test: a process of it crashed, see above`);
  return counts ? { ...counts, failed: 1 } : { passed: 0, failed: 1, skipped: 0 };
}

/** `choice` has files, or options that choose tests. */
async function runVitest(choice: readonly string[] = []): Promise<Counts> {
  watched.add('vitest');
  const file = join(reports, 'vitest.json');
  const parameters = ['run', ...choice, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const status = await runToEnd(process.execPath, ['node_modules/vitest/vitest.mjs', ...parameters]);
  const report = readReport<VitestReport>(file);
  if (report) failures.push(...failedInVitest(report));
  const counts = report && {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
  return withStatus('vitest', counts, status);
}

type Project = 'browser' | 'electron' | 'package';

const recording = join(reports, 'connections');
/** Programs that the suites of this run have started, whose connections must have been recorded. */
const watched = new Set<WatchedProgram>();

/** Fails for each contact of any process of the suites that Settings, Privacy doesn't list. */
async function checkConnections(): Promise<Counts> {
  const lines = readRecording(recording);
  const found = [...missingWatchers(lines, [...watched]), ...unnamedContacts(lines, await namedAddresses())];
  failures.push(...found);
  return { passed: found.length === 0 ? 1 : 0, failed: found.length, skipped: 0 };
}

async function runPlaywright(project: Project): Promise<Counts> {
  // The package accepts no Node options: it runs the same code as the development build, without the recording.
  if (project === 'browser') watched.add('serve');
  if (project === 'electron') watched.add('electron');
  const file = join(reports, `${project}.json`);
  const parameters = ['node_modules/@playwright/test/cli.js', 'test', `--project=${project}`, '--reporter=list,json'];
  const env = { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: file };
  const status = await runToEnd(process.execPath, parameters, { env });
  const report = readReport<PlaywrightReport>(file);
  if (report) failures.push(...failedInPlaywright(report));
  const counts = report && {
    passed: report.stats.expected,
    failed: report.stats.unexpected + report.stats.flaky,
    skipped: report.stats.skipped,
  };
  return withStatus(`Playwright in ${project}`, counts, status);
}

/** Creates the package if it can be tested. An installer takes a minute more, so only the full form creates one. */
async function makePackage(): Promise<Counts | null> {
  if (await obstacleTo('package')) return null;
  const parameters = ['scripts/package.ts', '--for-tests', ...(isFull ? [] : ['--directory-only'])];
  const status = await runToEnd(process.execPath, parameters);
  if (status === 0) return null;
  failures.push(`npm run package ended with status ${status}, see above`);
  return { passed: 0, failed: 1, skipped: 0 };
}

/** `failure` is that of a preparation. */
async function runEndToEnd(project: Project, failure: Counts | null = null): Promise<Counts> {
  const obstacle = await obstacleTo(project);
  if (!obstacle) return failure ?? runPlaywright(project);
  print(`\n  NOT RUN: the end-to-end tests in ${project}. ${obstacle}\n`);
  return { passed: 0, failed: mustRunAll ? 1 : 0, skipped: mustRunAll ? 0 : 1 };
}

function add(all: readonly Counts[]): Counts {
  const total = (name: keyof Counts): number => all.reduce((sum, counts) => sum + counts[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

await buildIfStale();
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
startRecording(recording);

/** Tests for a killed host, a full or missing disk, a wrong clock, a missing keychain, and a provider that never ends. */
async function runFaults(): Promise<Counts[]> {
  const counts = [await runVitest(faultTests)];
  for (const name of faultBenchmarks) {
    const status = await runToEnd(process.execPath, ['scripts/run-benchmark.ts', name]);
    if (status !== 0) failures.push(`benchmark ${name} ended with status ${status}, see above`);
    counts.push({ passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 });
  }
  return counts;
}

async function runSuites(): Promise<Counts[]> {
  if (suite === 'package') return [await runEndToEnd('package', await makePackage())];
  if (suite === 'faults') return runFaults();
  if (suite === 'quick') return [await runVitest(['--tags-filter', '!slow'])];
  const counts = [await runVitest(), await runEndToEnd('browser')];
  // Fetches Electron, which both need.
  await obstacleTo('electron');
  // Creating the package is mostly copying, so the desktop tests run meanwhile.
  const packaged = makePackage();
  return [...counts, await runEndToEnd('electron'), await runEndToEnd('package', await packaged)];
}

const counts = await runSuites();
const { passed, failed, skipped } = add([...counts, await checkConnections()]);
if (failures.length > 0) print(`\nFailed:\n${failures.map((failure) => `  ${failure}\n`).join('')}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
