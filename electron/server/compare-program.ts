import { AppError } from '../../shared/app-error.ts';
import type { ComparisonFile } from '../comparisons/files/comparison-file.ts';
import { readComparisonFile } from '../comparisons/files/read-comparison-file.ts';
import { createHost } from '../create-host.ts';
import { describeFailure } from '../log.ts';
import { useNetwork } from '../outgoing-network.ts';
import { TransferError } from '../prompts/transfer/source-text.ts';
import { compare, type CompareOutput, compareStatus, type ComparisonService, ServiceError } from './compare-command.ts';
import { compareHelp, type CompareOptions, readCompareOptions } from './compare-options.ts';
import { UsageError } from './command-line.ts';

export interface CompareProgram {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: CompareOutput;
  /** Stops the comparison. */
  readonly signal: AbortSignal;
}

async function readFile(options: CompareOptions, output: CompareOutput): Promise<ComparisonFile> {
  let file: ComparisonFile;
  try {
    file = await readComparisonFile(options.file, options);
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    throw new UsageError(`${options.file}${error.line === null ? '' : `, line ${error.line}`}: ${error.message}`);
  }
  for (const { field, reason } of file.unsupported) output.report(`Not supported: ${field} ${reason}.`);
  if (file.unsupported.length > 0 && !options.skipsUnsupported)
    throw new UsageError(
      `${options.file} has parts that are not supported. Add --skip-unsupported to run without them.`,
    );
  if (file.comparison.variants.length === 0) throw new UsageError(`${options.file} has no variant that can run.`);
  return file;
}

/** A Touchstone that is running elsewhere. */
function runningService(url: string, key: string | undefined): ComparisonService {
  if (!key) throw new UsageError('Set TOUCHSTONE_KEY to an API key with the scope manage.');
  return {
    async fetch(path, init = {}) {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${key}`);
      try {
        return await fetch(url + path, { ...init, headers, redirect: 'error' });
      } catch (error) {
        throw new ServiceError(`${url} doesn't answer: ${(error as Error).message}.`, { cause: error });
      }
    },
  };
}

async function run(options: CompareOptions, { environment, output, signal }: CompareProgram): Promise<number> {
  const file = await readFile(options, output);
  if (options.url !== null)
    return compare(runningService(options.url, environment['TOUCHSTONE_KEY']), file, options, output, signal);
  await useNetwork({ environment }, (message) => output.report(message));
  const host = await createHost({
    ...options,
    capabilities: [],
    environment,
    log: (message, error) => output.report(`${message}${error === undefined ? '' : ` ${describeFailure(error)}`}`),
  });
  try {
    const service: ComparisonService = {
      fetch: (path, init) => host.api.fetch(new Request(`http://127.0.0.1${path}`, init), { access: 'window' }),
    };
    return await compare(service, file, options, output, signal);
  } finally {
    await host.close();
  }
}

/** Runs one command line and returns the exit status. */
export async function runCompare(parameters: readonly string[], program: CompareProgram): Promise<number> {
  try {
    const options = readCompareOptions(parameters);
    if (options !== null) return await run(options, program);
    program.output.print(compareHelp);
    return compareStatus.passed;
  } catch (error) {
    const isKnown = error instanceof UsageError || error instanceof ServiceError || error instanceof AppError;
    program.output.report(isKnown ? error.message : `Unexpected error. ${describeFailure(error)}`);
    return isKnown ? compareStatus.invalid : compareStatus.incomplete;
  }
}
