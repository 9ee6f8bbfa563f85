import { z } from 'zod';
import { timestamp, uuid } from './common.ts';
import { comparison, comparisonParameters, variantName } from './comparisons.ts';
import { defineEndpoint } from './endpoint.ts';

/** What people and judges say about single answers of a comparison. */

const tag = 'Comparisons';

export const maxNoteCharacters = 2000;

/** The name that votes of the window have instead of that of a key. */
export const windowVoter = 'This window';

export const cellVote = z
  .object({
    voter: z
      .string()
      .nullable()
      .describe(
        `Name of the API key, or \`${windowVoter}\`; null for a vote of another caller on a run that the caller can't read`,
      ),
    isOwn: z.boolean().describe('Whether it is the vote of the caller'),
    vote: z.enum(['pass', 'fail']).nullable().describe('`null`: only a note'),
    note: z.string().nullable(),
    updatedAt: timestamp,
  })
  .meta({ id: 'CellVote' });
export type CellVote = z.infer<typeof cellVote>;

const voteInput = z
  .strictObject({
    cell: z.strictObject({ rowId: z.string().max(100), variant: variantName, repeat: z.int().min(1) }),
    vote: z.enum(['pass', 'fail']).nullish(),
    note: z
      .string()
      .max(maxNoteCharacters, `must have at most ${maxNoteCharacters} characters`)
      .nullish()
      .describe('Deleted with the texts of the run'),
  })
  .meta({ id: 'CellVoteInput' });
export type CellVoteInput = z.infer<typeof voteInput>;

export const voteOnCell = defineEndpoint({
  id: 'voteOnCell',
  method: 'put',
  path: '/comparisons/{id}/votes',
  access: 'manage',
  tag,
  summary: 'Vote on the answer of a cell',
  description:
    "Replaces the caller's vote on the cell: pass or fail, a note, or both. Without either, the vote is removed. Returns all votes on the cell. A run of another caller needs the scope `audit`.",
  parameters: comparisonParameters,
  body: voteInput,
  response: z.object({ data: z.array(cellVote) }),
  errors: [404],
});

export const judgeComparison = defineEndpoint({
  id: 'judgeComparison',
  method: 'post',
  path: '/comparisons/{id}/judge',
  access: 'manage',
  tag,
  summary: 'Judge completed cells again',
  description:
    'Has the judges among the checks judge the completed cells on which they gave no verdict, one from before a change, or one from before their calibration. No cell is run again. Each new verdict is a run of the caller. 409 while the comparison runs.',
  parameters: comparisonParameters,
  status: 202,
  response: comparison,
  errors: [404, 409],
});

const range = z.object({ low: z.number(), high: z.number() });
const cost = range.nullable().describe('US dollars; null if a price is unknown');

export const missingVerdicts = z
  .object({
    cells: z.int().describe('Completed cells that the judges would look at'),
    cost,
    judges: z.array(
      z.object({
        judgeId: uuid,
        name: z.string(),
        missing: z.int().describe('Answers without a verdict, also because the response was outside its schema'),
        stale: z.int().describe('Answers with a verdict from before a change of the judge'),
        uncounted: z
          .int()
          .describe('Answers with a verdict from before the calibration. They are counted without a new run'),
        cost,
      }),
    ),
  })
  .meta({ id: 'MissingVerdicts' });
export type MissingVerdicts = z.infer<typeof missingVerdicts>;

export const readMissingVerdicts = defineEndpoint({
  id: 'readMissingVerdicts',
  method: 'get',
  path: '/comparisons/{id}/judge',
  access: 'run',
  tag,
  summary: 'Count missing and stale verdicts',
  description:
    'What judging again would do: for each judge among the checks the completed answers without a verdict of the judge as it is, and the estimated cost of new ones. Judges that need nothing have zeros.',
  parameters: comparisonParameters,
  response: missingVerdicts,
  errors: [404],
});
