import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { comparisonEstimateInput } from '../../../shared/contract/comparison-estimates.ts';
import { datasetInput } from '../../../shared/contract/datasets.ts';
import { validate } from '../../common/validate.ts';
import { isMap, plain, readJson, readYaml } from '../../prompts/transfer/bounded-values.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import type { ComparisonFile, FileDataset, FileOptions } from './comparison-file.ts';
import { readPromptfooSuite } from './promptfoo-suite.ts';

const ownDataset = z.union([
  z.strictObject({ file: z.string().min(1) }),
  datasetInput.pick({ columns: true, rows: true }),
]);

/** The same errors as those of the service. */
function validated<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  try {
    return validate(schema, value, 'file');
  } catch (error) {
    throw new TransferError((error as Error).message);
  }
}

/** Our own form: the body of a creation, with `dataset` instead of `datasetId` if the rows are in the file or beside it. */
function readOwn(file: string, value: Record<string, unknown>): ComparisonFile {
  const { dataset, ...given } = value;
  // Any id, because the schema needs one.
  const placeholder = '00000000-0000-4000-8000-000000000000';
  const parsed = validated(comparisonEstimateInput, { ...given, datasetId: given['datasetId'] ?? placeholder });
  const { datasetId, datasetVersion, name = 'Comparison', ...comparison } = parsed;
  const result = {
    comparison: { name, ...comparison },
    judges: new Map<string, never>(),
    pairJudges: [],
    unsupported: [],
  };
  if (dataset === undefined) {
    if (given['datasetId'] === undefined) throw new TransferError('dataset: is required unless `datasetId` is given');
    return { ...result, dataset: { datasetId, ...(datasetVersion !== undefined && { datasetVersion }) } };
  }
  const own = ownDataset.safeParse(dataset);
  if (!own.success) throw new TransferError('dataset: must have `file`, or `columns` and `rows`');
  const found: FileDataset = 'file' in own.data ? { file: resolve(dirname(file), own.data.file) } : own.data;
  return { ...result, dataset: found };
}

/** Reads a comparison, or a configuration of promptfoo. Throws `TransferError`. */
export async function readComparisonFile(file: string, options: FileOptions): Promise<ComparisonFile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new TransferError(`${file} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  const value = /\.json$/i.test(file) ? readJson(text) : readYaml(text).value;
  if (!isMap(value)) throw new TransferError('The file is not an object');
  if (value.has('variants')) return readOwn(file, plain(value) as Record<string, unknown>);
  return readPromptfooSuite(file, text, options);
}
