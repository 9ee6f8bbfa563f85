import { randomInt, randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import { type ListPage, type ListQuery, newestList } from './list-page.ts';

/** A person's vote on the answer of a cell. `voter` is a caller. */
export interface StoredCellVote {
  readonly position: number;
  readonly voter: string;
  /** Name of the voter's API key; null for the window. */
  readonly voterName: string | null;
  /** Null for only a note. */
  readonly vote: 'pass' | 'fail' | null;
  readonly note: string | null;
  readonly updatedAt: number;
}

/** Votes of one person on two variants, by their numbers, whose answers are shown without their names. */
export interface StoredBlindVote {
  readonly sequence: number;
  readonly id: string;
  readonly comparisonId: string;
  readonly voter: string;
  readonly voterName: string | null;
  readonly first: number;
  readonly second: number;
  /** Of the order of the rows and of the sides. */
  readonly seed: number;
  readonly question: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

export interface StoredPairVote {
  /** Its number in the dataset. */
  readonly row: number;
  /** From 0. */
  readonly repeat: number;
  /** The variant that won. `identical`: equal answers, which need no vote. */
  readonly vote: 'first' | 'second' | 'tie' | 'bothBad' | 'skip' | 'identical';
  readonly note: string | null;
  readonly createdAt: number;
}

/** A judge inside a check that combines others. Cells have no result of it, so that its newest verdict on their runs counts. */
export interface InnerJudge {
  readonly judgeId: string;
  /** Whether what it passes fails in the check. */
  readonly isInverted: boolean;
}

export interface VoteStore {
  /** Votes on the cells in a range of positions, newest first. */
  cellVotes(comparison: number, range: { from: number; to: number }): StoredCellVote[];
  /** Replaces the vote of a voter. Null removes it. */
  setCellVote(
    comparison: number,
    cell: { position: number; voter: string },
    vote: Pick<StoredCellVote, 'vote' | 'note'> | null,
  ): void;
  /**
   * Numbers of the rows where a judge and a person disagree on whether an answer passes, or on which of two is better. Blind votes count
   * when they are finished. `cellsPerRow` is the number of variants times that of repeats.
   */
  disagreeingRows(
    comparison: number,
    compared: { cellsPerRow: number; repeats: number; innerJudges: readonly InnerJudge[] },
  ): number[];
  createBlindVote(
    comparison: number,
    vote: Pick<StoredBlindVote, 'voter' | 'first' | 'second' | 'question'>,
  ): StoredBlindVote;
  /** Newest first. Throws `invalid_request` for a token of another list. */
  blindVotes(comparison: number, query: ListQuery): ListPage<StoredBlindVote>;
  /** The newest one of a voter on two variants, in any order, that isn't finished. */
  openBlindVote(comparison: number, vote: Pick<StoredBlindVote, 'voter' | 'first' | 'second'>): StoredBlindVote | null;
  /** The newest finished one of each voter on two variants, in any order, with the question if there is one. */
  finishedBlindVotes(
    comparison: number,
    vote: Pick<StoredBlindVote, 'first' | 'second'> & Partial<Pick<StoredBlindVote, 'question'>>,
  ): StoredBlindVote[];
  /** Throws `not_found`. */
  findBlindVote(id: string): StoredBlindVote;
  setQuestion(blindVote: number, question: string): void;
  finishBlindVote(blindVote: number): void;
  removeBlindVote(blindVote: number): void;
  /** Oldest first. */
  pairVotes(blindVote: number): StoredPairVote[];
  /** Replaces earlier votes on the same rows. */
  setPairVotes(blindVote: number, votes: readonly Omit<StoredPairVote, 'createdAt'>[]): void;
  removePairVote(blindVote: number, row: number): void;
}

const blindVoteRows = `SELECT blind_votes.sequence, blind_votes.id, comparisons.id AS comparisonId, voter, api_keys.name AS voterName, first,
    second, seed, question, blind_votes.created_at AS createdAt, finished_at AS finishedAt
  FROM blind_votes JOIN comparisons ON comparisons.sequence = blind_votes.comparison
  JOIN comparison_progress ON comparison_progress.comparison = comparisons.sequence
  LEFT JOIN api_keys ON api_keys.caller_id = voter`;

const cellOfPair = (variant: string) =>
  `pairs.row * CAST(@cellsPerRow AS INTEGER) + ${variant} * CAST(@repeats AS INTEGER) + pairs.repeat`;
const cellOfVote = 'comparison_votes JOIN comparison_cells USING (comparison, position)';
const cellsOfPair = `blind_votes JOIN blind_vote_pairs AS pairs ON pairs.blind_vote = blind_votes.sequence
    JOIN comparison_cells AS one ON one.comparison = blind_votes.comparison AND one.position = ${cellOfPair('first')}
    JOIN comparison_cells AS other ON other.comparison = blind_votes.comparison AND other.position = ${cellOfPair('second')}`;
const innerJudges = `json_each(@innerJudges) AS inner JOIN judges ON judges.id = inner.value ->> '$.judgeId'`;
/** A score as a check has it, but not from 0 to 1; null without a verdict. */
const innerScore = (verdicts: string) => `CASE ${verdicts}.verdict_json WHEN 'null' THEN NULL
    WHEN '"pass"' THEN 1 WHEN '"fail"' THEN 0 ELSE CAST(${verdicts}.verdict_json AS INTEGER) END
    * iif(inner.value ->> '$.isInverted', -1, 1)`;
const innerPass = `CASE verdict_json WHEN 'null' THEN NULL WHEN '"pass"' THEN 1 WHEN '"fail"' THEN 0
    ELSE CAST(verdict_json AS INTEGER) >= input_json ->> '$.verdict.passFrom' END <> (inner.value ->> '$.isInverted')`;
const disagreeingRows = `
  SELECT position / CAST(@cellsPerRow AS INTEGER)
  FROM ${cellOfVote}, json_each(checks_json) AS judged
  WHERE comparison = @comparison AND vote IS NOT NULL AND judged.value ->> '$.kind' = 'judge'
    AND judged.value ->> '$.pass' <> (vote = 'pass')
  UNION
  SELECT position / CAST(@cellsPerRow AS INTEGER)
  FROM ${cellOfVote}, ${innerJudges} JOIN judge_verdicts ON judge = judges.sequence AND judge_verdicts.run_id = comparison_cells.run_id
  WHERE comparison = @comparison AND vote IS NOT NULL AND (${innerPass}) <> (vote = 'pass')
  UNION
  SELECT pairs.row
  FROM ${cellsOfPair},
    json_each(one.checks_json) AS judged JOIN json_each(other.checks_json) AS against ON against.key = judged.key
  WHERE blind_votes.comparison = @comparison AND finished_at IS NOT NULL AND judged.value ->> '$.kind' = 'judge'
    AND (vote = 'first' AND judged.value ->> '$.score' < against.value ->> '$.score'
      OR vote = 'second' AND judged.value ->> '$.score' > against.value ->> '$.score')
  UNION
  SELECT pairs.row
  FROM ${cellsOfPair}, ${innerJudges}
    JOIN judge_verdicts AS judged ON judged.judge = judges.sequence AND judged.run_id = one.run_id
    JOIN judge_verdicts AS against ON against.judge = judges.sequence AND against.run_id = other.run_id
  WHERE blind_votes.comparison = @comparison AND finished_at IS NOT NULL
    AND (vote = 'first' AND ${innerScore('judged')} < ${innerScore('against')}
      OR vote = 'second' AND ${innerScore('judged')} > ${innerScore('against')})`;

function cellVoteStatements(database: Database.Database) {
  return {
    range: database.prepare<[number, number, number], StoredCellVote>(
      `SELECT position, voter, name AS voterName, vote, note, comparison_votes.updated_at AS updatedAt
       FROM comparison_votes LEFT JOIN api_keys ON caller_id = voter
       WHERE comparison = ? AND position >= ? AND position < ? ORDER BY updatedAt DESC, voter`,
    ),
    set: database.prepare<[number, number, string, string | null, string | null, number]>(
      `INSERT INTO comparison_votes (comparison, position, voter, vote, note, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET vote = excluded.vote, note = excluded.note, updated_at = excluded.updated_at`,
    ),
    disagreeing: database
      .prepare<{ comparison: number; cellsPerRow: number; repeats: number; innerJudges: string }, number>(
        disagreeingRows,
      )
      .pluck(),
    remove: database.prepare<[number, number, string]>(
      'DELETE FROM comparison_votes WHERE comparison = ? AND position = ? AND voter = ?',
    ),
  };
}

function blindVoteStatements(database: Database.Database) {
  return {
    insert: database.prepare<[string, number, string, number, number, number, string, number]>(
      `INSERT INTO blind_votes (id, comparison, voter, first, second, seed, question, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    page: database.prepare<{ comparison: number; before: number; limit: number }, StoredBlindVote>(
      `${blindVoteRows} WHERE blind_votes.comparison = @comparison AND blind_votes.sequence < @before
       ORDER BY blind_votes.sequence DESC LIMIT @limit`,
    ),
    open: database.prepare<[number, string, number, number, number, number], StoredBlindVote>(
      `${blindVoteRows} WHERE blind_votes.comparison = ? AND voter = ? AND finished_at IS NULL
       AND (first, second) IN (VALUES (?, ?), (?, ?)) ORDER BY blind_votes.sequence DESC LIMIT 1`,
    ),
    finished: database.prepare<
      { comparison: number; first: number; second: number; question: string | null },
      StoredBlindVote
    >(
      `${blindVoteRows} WHERE blind_votes.sequence IN (
         SELECT max(sequence) FROM blind_votes WHERE comparison = @comparison AND finished_at IS NOT NULL
           AND (first, second) IN (VALUES (@first, @second), (@second, @first)) AND question = coalesce(@question, question)
         GROUP BY voter)`,
    ),
    // The comparison may have been deleted, and its votes not yet.
    find: database.prepare<[string], StoredBlindVote>(
      `${blindVoteRows} WHERE blind_votes.id = ? AND state <> 'Removed'`,
    ),
    setQuestion: database.prepare<[string, number]>('UPDATE blind_votes SET question = ? WHERE sequence = ?'),
    finish: database.prepare<[number, number]>(
      'UPDATE blind_votes SET finished_at = ? WHERE sequence = ? AND finished_at IS NULL',
    ),
    remove: database.prepare<[number]>('DELETE FROM blind_votes WHERE sequence = ?'),
    pairs: database.prepare<[number], StoredPairVote>(
      `SELECT row, repeat, vote, note, created_at AS createdAt FROM blind_vote_pairs WHERE blind_vote = ?
       ORDER BY created_at`,
    ),
    setPair: database.prepare<[Omit<StoredPairVote, 'createdAt'> & { blindVote: number; now: number }]>(
      // Ascending, so that the last vote is known.
      `INSERT INTO blind_vote_pairs (blind_vote, row, repeat, vote, note, created_at)
       SELECT @blindVote, @row, @repeat, @vote, @note, max(@now, coalesce(max(created_at) + 1, 0))
       FROM blind_vote_pairs WHERE blind_vote = @blindVote
       ON CONFLICT DO UPDATE SET repeat = excluded.repeat, vote = excluded.vote, note = excluded.note`,
    ),
    removePair: database.prepare<[number, number]>('DELETE FROM blind_vote_pairs WHERE blind_vote = ? AND row = ?'),
  };
}

export function createVoteStore(database: Database.Database, tokenSecret: string): VoteStore {
  const cells = cellVoteStatements(database);
  const blind = blindVoteStatements(database);

  function find(id: string): StoredBlindVote {
    const found = blind.find.get(id.toLowerCase());
    if (!found) throw new AppError('not_found', 'No blind vote has this ID.');
    return found;
  }

  const setPairs = database.transaction<VoteStore['setPairVotes']>((blindVote, votes) => {
    for (const vote of votes) blind.setPair.run({ ...vote, blindVote, now: Date.now() });
  });

  return {
    cellVotes: (comparison, { from, to }) => cells.range.all(comparison, from, to),
    setCellVote(comparison, { position, voter }, vote) {
      if (vote === null) cells.remove.run(comparison, position, voter);
      else cells.set.run(comparison, position, voter, vote.vote, vote.note, Date.now());
    },
    disagreeingRows: (comparison, { innerJudges: inner, ...size }) =>
      cells.disagreeing.all({ comparison, ...size, innerJudges: JSON.stringify(inner) }),
    createBlindVote(comparison, { voter, first, second, question }) {
      const id = randomUUID();
      blind.insert.run(id, comparison, voter, first, second, randomInt(2 ** 31), question, Date.now());
      return find(id);
    },
    blindVotes: (comparison, query) =>
      newestList<StoredBlindVote, StoredBlindVote>({
        tokenSecret,
        name: `blind votes of ${comparison}`,
        rows: (page) => blind.page.all({ comparison, ...page }),
        toItem: (vote) => vote,
      })(query),
    openBlindVote: (comparison, { voter, first, second }) =>
      blind.open.get(comparison, voter, first, second, second, first) ?? null,
    finishedBlindVotes: (comparison, { first, second, question = null }) =>
      blind.finished.all({ comparison, first, second, question }),
    findBlindVote: find,
    setQuestion: (blindVote, question) => void blind.setQuestion.run(question, blindVote),
    finishBlindVote: (blindVote) => void blind.finish.run(Date.now(), blindVote),
    removeBlindVote: (blindVote) => void blind.remove.run(blindVote),
    pairVotes: (blindVote) => blind.pairs.all(blindVote),
    setPairVotes: (blindVote, votes) => setPairs.immediate(blindVote, votes),
    removePairVote: (blindVote, row) => void blind.removePair.run(blindVote, row),
  };
}
