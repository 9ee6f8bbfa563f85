import { estimateComparison } from '../../shared/contract/comparison-estimates.ts';
import {
  exportComparison,
  type ExportFormat,
  readComparedRows,
  readComparisonCells,
  readComparisonFields,
  readComparisonReport,
  readComparisonTrend,
} from '../../shared/contract/comparison-results.ts';
import { retryComparison, startComparison, stopComparison } from '../../shared/contract/comparison-runs.ts';
import {
  createComparison,
  deleteComparison,
  followComparisons,
  listComparisons,
  readComparison,
} from '../../shared/contract/comparisons.ts';
import { judgePairs, readJudgedPairs } from '../../shared/contract/judged-pairs.ts';
import { judgeComparison, readMissingVerdicts, voteOnCell } from '../../shared/contract/votes.ts';
import type { Comparisons } from '../comparisons/create-comparisons.ts';
import { withoutPrompts } from '../comparisons/describe-comparison.ts';
import type { Log } from '../log.ts';
import { type Handler, implement, readsPrompts } from './api.ts';
import { fileReaderOf } from './files.ts';
import { longJsonResponse } from './json-response.ts';
import { originOf } from './run-response.ts';
import { followList, followResponse, sendTextFile } from './stream-response.ts';
import { toListQuery } from './validation.ts';

const defaultCells = 100;
const defaultRows = 20;
/** Of each text of a row. */
const shownCharacters = 2000;

const exportTypes: Readonly<Record<ExportFormat, readonly [mediaType: string, extension: string]>> = {
  csv: ['text/csv; charset=utf-8', 'csv'],
  jsonl: ['application/jsonl', 'jsonl'],
  junit: ['application/xml', 'xml'],
  markdown: ['text/markdown; charset=utf-8', 'md'],
  html: ['text/html; charset=utf-8', 'html'],
  preferences: ['application/jsonl', 'preferences.jsonl'],
};

function sendExport(format: ExportFormat, text: AsyncGenerator<string>): Response {
  const [mediaType, extension] = exportTypes[format];
  return sendTextFile(`comparison.${extension}`, mediaType, text);
}

export function comparisonHandlers(comparisons: Comparisons, log: Log): Handler[] {
  return [
    implement(listComparisons, ({ query }) => comparisons.list(toListQuery(query))),
    implement(createComparison, ({ body, signal }) => comparisons.create(body, { signal })),
    implement(estimateComparison, ({ body, signal }) => comparisons.estimate(body, { signal })),
    implement(followComparisons, (input) =>
      followResponse(input, (signal) => followList(comparisons.recent, signal), log),
    ),
    implement(readComparison, ({ parameters, caller }) => {
      const comparison = comparisons.read(parameters.id);
      return readsPrompts(caller) ? comparison : withoutPrompts(comparison);
    }),
    implement(deleteComparison, ({ parameters }) => comparisons.remove(parameters.id)),
    implement(startComparison, (input) =>
      comparisons.start(input.parameters.id, { origin: originOf(input), maxRows: input.body.maxRows ?? null }),
    ),
    implement(stopComparison, ({ parameters, body }) => comparisons.stop(parameters.id, body)),
    implement(retryComparison, (input) =>
      comparisons.retry(input.parameters.id, input.body, { origin: originOf(input) }),
    ),
    implement(judgeComparison, (input) => comparisons.judgeAgain(input.parameters.id, { origin: originOf(input) })),
    implement(judgePairs, (input) =>
      comparisons.judgePairs(input.parameters.id, input.body, {
        origin: originOf(input),
        reader: fileReaderOf(input.caller),
      }),
    ),
    implement(readJudgedPairs, ({ parameters, query: { judgeId, first, second }, signal }) =>
      comparisons.readPairs(parameters.id, { judgeId, variants: [first, second] }, { signal }),
    ),
    implement(readMissingVerdicts, ({ parameters, signal }) => comparisons.missingVerdicts(parameters.id, { signal })),
    implement(readComparisonCells, async ({ parameters, query, caller }) => {
      const { offset = 0, limit = defaultCells, variant = null, state = null } = query;
      return longJsonResponse(
        await comparisons.cells(parameters.id, { offset, limit, variant, state }, fileReaderOf(caller)),
      );
    }),
    implement(readComparisonReport, ({ parameters, query, signal }) =>
      comparisons.report(parameters.id, { signal, baseline: query.baseline }),
    ),
    implement(readComparisonTrend, ({ parameters, signal }) => comparisons.trend(parameters.id, { signal })),
    implement(readComparisonFields, ({ parameters, signal }) => comparisons.fields(parameters.id, { signal })),
    implement(exportComparison, async ({ parameters, query: { format }, caller, signal }) => {
      const options = { signal, hasPrompts: readsPrompts(caller) };
      return sendExport(format, await comparisons.export(parameters.id, format, fileReaderOf(caller), options));
    }),
    implement(voteOnCell, async ({ parameters, body, caller }) => ({
      data: await comparisons.vote(parameters.id, body, fileReaderOf(caller)),
    })),
    implement(readComparedRows, async ({ parameters, query, caller }) => {
      const { offset = 0, limit = defaultRows, filter = 'all', sort = 'row', characters = shownCharacters } = query;
      const found = { offset, limit, filter, sort, characters };
      return longJsonResponse(await comparisons.rows(parameters.id, found, fileReaderOf(caller)));
    }),
  ];
}
