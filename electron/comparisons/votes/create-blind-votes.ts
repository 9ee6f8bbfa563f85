import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { BlindVote, BlindVoteItem, PairVote } from '../../../shared/contract/blind-votes.ts';
import { windowVoter } from '../../../shared/contract/votes.ts';
import type { ComparisonStore } from '../../storage/comparison-store.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { ListPage, ListQuery } from '../../storage/list-page.ts';
import type { StoredBlindVote, StoredPairVote } from '../../storage/vote-store.ts';
import type { ComparisonJob } from '../comparison-job.ts';
import type { Judges } from '../judge/create-judges.ts';
import { type BlindPairsOptions, countPairs, createBlindPairs, isSwapped } from './blind-pairs.ts';
import { blindResultOf } from './blind-result.ts';

interface PairInput {
  /** Null removes it. */
  readonly vote: PairVote | null;
  /** From 1. */
  readonly repeat?: number | undefined;
  readonly note?: string | null | undefined;
}

/** Votes on pairs of answers without their variants. Methods with an id throw `not_found`; only the voter may change a vote: `forbidden`. */
export interface BlindVotes {
  list(comparisonId: string, query: ListQuery, reader: FileReader): Promise<ListPage<BlindVoteItem>>;
  /** Continues the caller's vote on the same variants if it isn't finished. Throws `invalid_request` with the field. */
  create(
    comparisonId: string,
    input: { readonly variants: readonly string[]; readonly question?: string | undefined },
    reader: FileReader,
  ): Promise<BlindVote>;
  read(id: string, reader: FileReader): Promise<BlindVote>;
  setQuestion(id: string, question: string, reader: FileReader): Promise<BlindVote>;
  /** Throws `conflict` when it is finished. */
  vote(id: string, rowId: string, input: PairInput, reader: FileReader): Promise<BlindVote>;
  /** As `vote`. */
  undo(id: string, reader: FileReader): Promise<BlindVote>;
  finish(id: string, reader: FileReader): Promise<BlindVote>;
  remove(id: string): void;
}

export interface BlindVotesOptions extends BlindPairsOptions {
  readonly store: Pick<ComparisonStore, 'cell' | 'setup'>;
  readonly judges: Pick<Judges, 'read' | 'exists'>;
  readonly open: (comparisonId: string) => Promise<ComparisonJob>;
  readonly rowNumberIn: (comparison: ComparisonJob['comparison']) => (rowId: string) => number | null;
}

const defaultQuestion = 'Which answer is better?';
/** Longer ones were pauses. */
const longestVoteMs = 300_000;
const timedVotes = 20;

const other = { first: 'second', second: 'first' } as const;

/** From the side to the variant. */
function turned(vote: PairVote, isTurned: boolean): PairVote {
  return isTurned && (vote === 'first' || vote === 'second') ? other[vote] : vote;
}

function countsOf(pairs: number, votes: readonly StoredPairVote[]): BlindVoteItem['counts'] {
  const count = (...kinds: StoredPairVote['vote'][]) => votes.filter(({ vote }) => kinds.includes(vote)).length;
  return {
    pairs,
    voted: votes.length,
    decided: count('first', 'second'),
    ties: count('tie'),
    bothBad: count('bothBad'),
    skipped: count('skip'),
    identical: count('identical'),
  };
}

function secondsPerPair(votes: readonly StoredPairVote[]): number | null {
  const times = votes.filter(({ vote }) => vote !== 'identical').map(({ createdAt }) => createdAt);
  const last = times.slice(-timedVotes - 1);
  const gaps = last.slice(1).map((time, index) => time - last[index]!);
  const timed = gaps.filter((gap) => gap <= longestVoteMs).toSorted((one, another) => one - another);
  return timed.length === 0 ? null : timed[Math.floor(timed.length / 2)]! / 1000;
}

/** Describes blind votes as callers see them. */
function createDescriber(
  { votes, store, judges, open }: BlindVotesOptions,
  pairs: ReturnType<typeof createBlindPairs>,
) {
  function item(job: ComparisonJob, vote: StoredBlindVote, { callerId, canReadAll }: FileReader): BlindVoteItem {
    const isOwn = vote.voter === callerId;
    const { variants } = store.setup(job.comparison.sequence);
    return {
      id: vote.id,
      comparisonId: vote.comparisonId,
      variants: [vote.first, vote.second].map((index) => variants[index]!.name),
      question: vote.question,
      voter: isOwn || canReadAll ? (vote.voterName ?? windowVoter) : null,
      isOwn,
      counts: countsOf(countPairs(job.cells, vote), votes.pairVotes(vote.sequence)),
      createdAt: new Date(vote.createdAt).toISOString(),
      finishedAt: vote.finishedAt === null ? null : new Date(vote.finishedAt).toISOString(),
    };
  }

  const judgeName = (id: string) => (judges.exists(id) ? judges.read(id).name : 'Deleted judge');

  /** With the next pair, unless another one is asked for. */
  async function describe(
    vote: StoredBlindVote,
    reader: FileReader,
    shown: Pick<BlindVote, 'pair' | 'note'> | null = null,
  ): Promise<BlindVote> {
    const job = await open(vote.comparisonId);
    const isOpen = vote.finishedAt === null && vote.voter === reader.callerId;
    const pair = shown ? shown.pair : isOpen ? await pairs.next(job, vote, reader) : null;
    const voted = votes.pairVotes(vote.sequence);
    const result =
      vote.finishedAt === null
        ? null
        : await blindResultOf({
            setup: store.setup(job.comparison.sequence),
            vote,
            pairs: voted,
            cellsOf: ({ row, repeat }) => pairs.cellsOf(job, vote, row, repeat),
            judgeName,
            finished: votes
              .finishedBlindVotes(job.comparison.sequence, vote)
              .map((one) => ({ vote: one, pairs: votes.pairVotes(one.sequence) })),
          });
    const time = secondsPerPair(voted);
    return { ...item(job, vote, reader), secondsPerPair: time, pair, note: shown?.note ?? null, result };
  }

  return { item, describe };
}

/** Throws `forbidden`, and `conflict` for a finished vote. */
function requireOpen(vote: StoredBlindVote, callerId: string): StoredBlindVote {
  if (vote.voter !== callerId) throw new AppError('forbidden', 'Only the voter can change a blind vote.');
  if (vote.finishedAt !== null) throw new AppError('conflict', 'The vote is finished and can not be changed.');
  return vote;
}

/** The two variants of a new vote by their positions. Throws `invalid_request`. */
function readVariants(
  names: readonly string[],
  variants: readonly { readonly name: string }[],
): Pick<StoredBlindVote, 'first' | 'second'> {
  const [first, second] = names.map((name, index) => {
    const found = variants.findIndex((variant) => variant.name === name);
    if (found < 0) throw invalidField(`variants[${index}]`, 'is not a variant of the comparison');
    return found;
  }) as [number, number];
  if (first === second) throw invalidField('variants[1]', 'is the same as the first');
  return { first, second };
}

/** The voter's vote on the same variants if it isn't finished, otherwise a new one. */
function continueOrCreate(
  votes: BlindVotesOptions['votes'],
  comparison: number,
  input: Pick<StoredBlindVote, 'voter' | 'first' | 'second'>,
  question: string | undefined,
): StoredBlindVote {
  const unfinished = votes.openBlindVote(comparison, input);
  if (!unfinished) return votes.createBlindVote(comparison, { ...input, question: question ?? defaultQuestion });
  if (question !== undefined) votes.setQuestion(unfinished.sequence, question);
  return votes.findBlindVote(unfinished.id);
}

export function createBlindVotes(options: BlindVotesOptions): BlindVotes {
  const { votes, store, open } = options;
  const pairs = createBlindPairs(options);
  const { item, describe } = createDescriber(options, pairs);

  const findOpen = (id: string, { callerId }: FileReader) => requireOpen(votes.findBlindVote(id), callerId);

  /** Removes a vote, and shows its pair again. */
  async function removed(
    vote: StoredBlindVote,
    { row, repeat }: Pick<StoredPairVote, 'row' | 'repeat'>,
    reader: FileReader,
  ): Promise<BlindVote> {
    const job = await open(vote.comparisonId);
    const found = votes.pairVotes(vote.sequence).find((pair) => pair.row === row);
    votes.removePairVote(vote.sequence, row);
    const pair = pairs.showAgain(job, vote, found ?? { row, repeat }, reader);
    return describe(vote, reader, pair && { pair, note: found?.note ?? null });
  }

  return {
    async list(comparisonId, query, reader) {
      const job = await open(comparisonId);
      const { data, continuationToken } = votes.blindVotes(job.comparison.sequence, query);
      return { data: data.map((vote) => item(job, vote, reader)), continuationToken };
    },
    async create(comparisonId, { variants: names, question }, reader) {
      const job = await open(comparisonId);
      const { sequence } = job.comparison;
      const { variants } = store.setup(sequence);
      const input = { voter: reader.callerId, ...readVariants(names, variants) };
      return describe(continueOrCreate(votes, sequence, input, question), reader);
    },
    read: (id, reader) => describe(votes.findBlindVote(id), reader),
    setQuestion(id, question, reader) {
      const vote = findOpen(id, reader);
      votes.setQuestion(vote.sequence, question);
      return describe(votes.findBlindVote(id), reader);
    },
    async vote(id, rowId, { vote: given, repeat: shown, note }, reader) {
      const job = await open(votes.findBlindVote(id).comparisonId);
      const vote = findOpen(id, reader);
      const row = options.rowNumberIn(job.comparison)(rowId);
      const repeat = row === null ? null : pairs.repeatOf(job, vote, row, shown === undefined ? undefined : shown - 1);
      if (row === null || repeat === null) throw new AppError('not_found', 'No pair of the vote has this row.');
      if (given === null) return removed(vote, { row, repeat }, reader);
      const pairVote = { row, repeat, vote: turned(given, isSwapped(vote.seed, row)), note: note?.trim() || null };
      votes.setPairVotes(vote.sequence, [pairVote]);
      return describe(vote, reader);
    },
    async undo(id, reader) {
      const vote = findOpen(id, reader);
      const last = votes.pairVotes(vote.sequence).findLast((pair) => pair.vote !== 'identical');
      return last ? removed(vote, last, reader) : describe(vote, reader);
    },
    async finish(id, reader) {
      const vote = votes.findBlindVote(id);
      if (vote.finishedAt === null) votes.finishBlindVote(findOpen(id, reader).sequence);
      return describe(votes.findBlindVote(id), reader);
    },
    remove: (id) => votes.removeBlindVote(votes.findBlindVote(id).sequence),
  };
}
