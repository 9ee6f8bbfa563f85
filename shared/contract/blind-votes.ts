import { z } from 'zod';
import { withCommas } from '../with-commas.ts';
import { citation } from './completions.ts';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { comparisonParameters, variantName } from './comparisons.ts';
import { defineEndpoint } from './endpoint.ts';
import { judgeAgreement } from './judges.ts';
import { maxNoteCharacters } from './votes.ts';

/** What people prefer of two answers, whose variants they don't see before the end. */

const tag = 'Comparisons';

const question = z.string().trim().min(1, 'must not be empty').max(500, 'must have at most 500 characters');
const maxTextCharacters = 200_000;

export const pairVote = z
  .enum(['first', 'second', 'tie', 'bothBad', 'skip'])
  .describe('The answer that is better, as the pair shows them. `skip` is not asked again and not counted')
  .meta({ id: 'PairVote' });
export type PairVote = z.infer<typeof pairVote>;

const blindAnswer = z.object({
  text: z.string().describe(`The first ${withCommas(maxTextCharacters)} characters`),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.string() })),
  passages: z.array(citation.pick({ index: true, sourceName: true, text: true })),
});

const blindPair = z
  .object({
    rowId: z.string(),
    position: z.int().describe('Of the row in the dataset, from 0'),
    repeat: z.int().describe('From 1. The vote on the pair names it'),
    values: z.record(z.string(), z.string()).describe('Of the row, shortened to 20,000 characters each'),
    answers: z.array(blindAnswer).describe('Two, in an order that is random for each row'),
  })
  .meta({ id: 'BlindPair' });
export type BlindPair = z.infer<typeof blindPair>;

const counts = z.object({
  pairs: z.int().describe('Rows with an answer of both variants'),
  voted: z.int(),
  decided: z.int().describe('Votes for one of the answers'),
  ties: z.int(),
  identical: z.int().describe('Pairs of equal answers, which are not asked'),
  bothBad: z.int(),
  skipped: z.int(),
});

const interval = z.tuple([z.number(), z.number()]);

/** What pairs of answers say about two variants, whoever compares them. */
export const preference = z.object({
  share: z.number().nullable().describe('Share of the decided pairs that the second variant won; null without any'),
  interval: interval.nullable().describe('95 % interval of the share'),
  probability: z
    .number()
    .nullable()
    .describe('How likely a result at least as uneven is if both are equally good: the exact sign test'),
  verdict: z.enum(['first', 'second', 'unclear']),
  pairsNeeded: z.int().nullable().describe('About how many decided pairs would tell; null if these tell'),
  sentence: z.string(),
});

const blindResult = z
  .object({
    variants: z.array(
      z.object({
        name: z.string(),
        model: z.string(),
        promptVersionId: uuid.nullable(),
        wins: z.int(),
        cost: z.number().nullable().describe('US dollars per run of the pairs that were voted on; null if unknown'),
      }),
    ),
    ...preference.shape,
    ties: z.int().describe('With pairs of which both answers are bad, and pairs of equal answers'),
    agreements: z
      .array(z.object({ judge: z.string(), agreement: judgeAgreement.nullable(), sentence: z.string() }))
      .describe('How far the judges among the checks prefer the same answers'),
    people: z
      .object({
        voters: z.int(),
        pairs: z.int().describe('That at least two of them voted on'),
        share: z.number().describe('Share of equal votes, of all pairs of votes on the same pair of answers'),
        alpha: z.number().nullable().describe("Krippendorff's alpha; null if all votes are the same"),
        interval: interval.nullable().describe('95 % interval of alpha'),
        sentence: z.string(),
      })
      .nullable()
      .describe('How far all who finished a vote on these variants with this question agree; null if only one did'),
  })
  .meta({ id: 'BlindVoteResult' });
export type BlindVoteResult = z.infer<typeof blindResult>;

const summary = {
  id: uuid,
  comparisonId: uuid,
  variants: z.array(z.string()).describe('Their names. Which of them gave which answer is known when it is finished'),
  question: z.string(),
  voter: z.string().nullable().describe('Name of the API key, or `This window`'),
  isOwn: z.boolean(),
  counts,
  createdAt: timestamp,
  finishedAt: timestamp.nullable(),
};

export const blindVoteItem = z.object(summary).meta({ id: 'BlindVoteItem' });
export type BlindVoteItem = z.infer<typeof blindVoteItem>;

export const blindVote = z
  .object({
    ...summary,
    result: blindResult.nullable().describe('Null until it is finished'),
    secondsPerPair: z.number().nullable().describe('The median of the last votes'),
    pair: blindPair.nullable().describe('The next one; null when all are voted on, and for other callers'),
    note: z.string().nullable().describe('Of the pair, if its vote was just removed'),
  })
  .meta({ id: 'BlindVote' });
export type BlindVote = z.infer<typeof blindVote>;

const parameters = z.object({ id: uuid });

export const listBlindVotes = defineEndpoint({
  id: 'listBlindVotes',
  method: 'get',
  path: '/comparisons/{id}/blind-votes',
  access: 'run',
  tag,
  summary: 'List blind votes of a comparison',
  description: 'Newest first, without their results.',
  parameters: comparisonParameters,
  query: listQuery,
  response: listOf(blindVoteItem),
  errors: [404],
});

export const createBlindVote = defineEndpoint({
  id: 'createBlindVote',
  method: 'post',
  path: '/comparisons/{id}/blind-votes',
  access: 'manage',
  tag,
  summary: 'Start a blind vote',
  description:
    'Compares two variants by answers of the same rows. The order of the rows and the side of each answer are random and stay the same. Returns the first pair. Runs of other callers need the scope `audit`.',
  parameters: comparisonParameters,
  body: z.strictObject({
    variants: z.array(variantName).length(2, 'must have two names'),
    question: question.optional().describe('"Which answer is better?" unless given'),
  }),
  status: 201,
  response: blindVote,
  errors: [404],
});

export const readBlindVote = defineEndpoint({
  id: 'readBlindVote',
  method: 'get',
  path: '/blind-votes/{id}',
  access: 'run',
  tag,
  summary: 'Read a blind vote with its next pair',
  description:
    'The result names the variants of the answers once the vote is finished. Only the voter gets the next pair.',
  parameters,
  response: blindVote,
  errors: [404],
});

export const updateBlindVote = defineEndpoint({
  id: 'updateBlindVote',
  method: 'put',
  path: '/blind-votes/{id}',
  access: 'manage',
  tag,
  summary: 'Change the question of a blind vote',
  description: 'Only the voter can change it.',
  parameters,
  body: z.strictObject({ question }),
  response: blindVote,
  errors: [404],
});

export const voteOnPair = defineEndpoint({
  id: 'voteOnPair',
  method: 'put',
  path: '/blind-votes/{id}/pairs/{rowId}',
  access: 'manage',
  tag,
  summary: 'Vote on a pair',
  description:
    'Sets or replaces the vote of the voter, and returns the next pair. `"vote": null` removes it and returns that pair again. A finished vote can not be changed: 409.',
  parameters: z.object({ id: uuid, rowId: z.string().min(1).max(100) }),
  body: z.strictObject({
    vote: pairVote.nullable(),
    repeat: z
      .int()
      .min(1, 'must be at least 1')
      .optional()
      .describe('That of the pair as it was shown. Unless given, the first one that both variants have an answer of'),
    note: z.string().max(maxNoteCharacters, `must have at most ${maxNoteCharacters} characters`).nullish(),
  }),
  response: blindVote,
  errors: [404, 409],
});

export const undoPairVote = defineEndpoint({
  id: 'undoPairVote',
  method: 'post',
  path: '/blind-votes/{id}/undo',
  access: 'manage',
  tag,
  summary: 'Remove the last vote',
  description: 'Returns the pair that it was on, with its note. Without votes nothing changes.',
  parameters,
  response: blindVote,
  errors: [404, 409],
});

export const finishBlindVote = defineEndpoint({
  id: 'finishBlindVote',
  method: 'post',
  path: '/blind-votes/{id}/finish',
  access: 'manage',
  tag,
  summary: 'Finish a blind vote',
  description: 'Ends the vote and returns its result, which names the variants of the answers.',
  parameters,
  response: blindVote,
  errors: [404],
});

export const deleteBlindVote = defineEndpoint({
  id: 'deleteBlindVote',
  method: 'delete',
  path: '/blind-votes/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a blind vote',
  description: 'The comparison and its other votes stay.',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
