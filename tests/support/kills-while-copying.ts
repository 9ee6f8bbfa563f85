import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { databaseFile } from '../../electron/storage/database.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import { parseTeamAddress } from '../../shared/team-address.ts';
import { openTeamConnection } from '../../electron/team/connection.ts';
import { Copier } from '../../electron/team/copier.ts';
import { createLocalRuns } from '../../electron/team/local-runs.ts';
import { runUntilKilled } from './kill-process.ts';
import type { TestPostgres } from './postgres.ts';

const script = fileURLToPath(new URL('../unit/team/copying-process.ts', import.meta.url));

export interface CopyingKillsOptions {
  readonly server: TestPostgres;
  /** Of a database there, with or without tables. */
  readonly address: string;
  /** The data folder of each host. */
  readonly directories: readonly string[];
  /** More follow until the killed hosts have copied enough. */
  readonly rounds: number;
  /** Milliseconds after which the server is killed in a round; null leaves it alone. */
  readonly killServerAfter: (round: number) => number | null;
  /** How many runs each host answers before it is killed. */
  readonly runsBefore: (round: number) => number;
}

export interface CopyingKillsReport {
  readonly serverKills: number;
  readonly answered: number;
  /** Runs in the team database before the hosts' last start. */
  readonly copiedBefore: number;
  /** Runs in the team database at the end. */
  readonly copied: number;
  readonly problems: readonly string[];
}

async function recordAndKill(directory: string, address: string, runs: number): Promise<string[]> {
  const printed: string[] = [];
  await runUntilKilled(script, [directory, address], (line) => printed.push(line) === runs);
  return printed.filter((id) => id.length === 36);
}

/** Returns the number of kills. */
async function killServer(server: TestPostgres, milliseconds: number | null): Promise<number> {
  if (milliseconds === null) return 0;
  await delay(milliseconds);
  await server.kill();
  await server.run();
  return 1;
}

/** Copies the rest, as the next start of the host does. Returns the numbers of its runs and feedback. */
async function copyRest(directory: string, address: string): Promise<{ runs: number; feedback: number }> {
  const storage = openStorage({ directory });
  const connection = await openTeamConnection(parseTeamAddress(address), null);
  const local = new Database(databaseFile(directory), { readonly: true });
  const copier = new Copier(connection.database, createLocalRuns(local));
  for (let progress = await copier.step(); progress.copied > 0 || progress.waiting > 0;) progress = await copier.step();
  const count = (table: string) => local.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
  const counts = { runs: count('runs'), feedback: count('feedback_history') };
  local.close();
  await connection.close();
  await storage.close();
  return counts;
}

const checks = {
  'a run is stored twice': 'SELECT id FROM touchstone.runs GROUP BY id HAVING count(*) > 1',
  'a run has no texts': `SELECT id FROM touchstone.runs
    WHERE NOT EXISTS (SELECT 1 FROM touchstone.run_texts WHERE run_texts.sequence = runs.sequence)`,
  'texts have no run': `SELECT sequence AS id FROM touchstone.run_texts
    WHERE NOT EXISTS (SELECT 1 FROM touchstone.runs WHERE run_texts.sequence = runs.sequence)`,
  'the count of a term is wrong': `SELECT coalesce(terms.term, counted.term) AS id
    FROM (SELECT term, count(*) AS runs FROM touchstone.runs, unnest(terms) AS term GROUP BY term) AS counted
      FULL JOIN (SELECT * FROM touchstone.terms WHERE term <> 'all=conversations') AS terms USING (term)
    WHERE terms.runs IS DISTINCT FROM counted.runs`,
  'the count of conversations is wrong': `SELECT term AS id FROM touchstone.terms
    WHERE term = 'all=conversations' AND runs <> (SELECT count(*) FROM touchstone.conversations)`,
  'the sum of a day is wrong': `SELECT coalesce(day_models.day, counted.day) AS id
    FROM (
      SELECT floor(created_at / 86400000.0)::integer AS day, served_model AS model, count(*) AS runs,
        coalesce(sum(cost::text::numeric), 0) AS cost, coalesce(sum(score), 0) AS score
      FROM touchstone.runs GROUP BY 1, 2
    ) AS counted FULL JOIN touchstone.day_models USING (day, model)
    WHERE (day_models.runs, day_models.cost, day_models.score) IS DISTINCT FROM (counted.runs, counted.cost, counted.score)`,
  'the durations of a day are wrong': `SELECT day AS id FROM (
      SELECT floor(created_at / 86400000.0)::integer AS day, count(*) AS runs, max(total_ms) AS longest
      FROM touchstone.runs WHERE total_ms IS NOT NULL GROUP BY 1
    ) AS counted FULL JOIN (
      SELECT day, sum(runs) AS runs, max(longest) AS longest FROM touchstone.day_durations WHERE kind = 'total_ms' GROUP BY 1
    ) AS kept USING (day)
    WHERE (counted.runs, counted.longest) IS DISTINCT FROM (kept.runs, kept.longest)`,
  'a run has the wrong neighbours': `SELECT id FROM (
      SELECT id, previous_sequence, next_sequence, lag(sequence) OVER same AS previous, lead(sequence) OVER same AS next
      FROM touchstone.runs WINDOW same AS (PARTITION BY conversation_id ORDER BY sequence)
    ) AS linked WHERE (previous_sequence, next_sequence) IS DISTINCT FROM (previous, next)`,
  'feedback is missing in a run': `SELECT run_id AS id FROM (
      SELECT DISTINCT ON (run_id) run_id, score FROM touchstone.feedback_history ORDER BY run_id, sequence DESC
    ) AS newest JOIN touchstone.runs ON runs.id = run_id WHERE runs.score IS DISTINCT FROM newest.score`,
};

/** Runs that hosts which were killed have to copy. */
export const fewestCopied = 100;

/** Kills hosts and the server while runs are copied, and compares what is stored at the end. */
export async function killWhileCopying(options: CopyingKillsOptions): Promise<CopyingKillsReport> {
  const { server, address, directories, rounds, killServerAfter, runsBefore } = options;
  const answered: string[] = [];
  let serverKills = 0;
  const countCopied = async (): Promise<number> => {
    // The first rounds may end before there are tables.
    const [found] = await server.query<{ has: boolean }>(
      address,
      "SELECT to_regclass('touchstone.runs') IS NOT NULL AS has",
    );
    if (!found!.has) return 0;
    const [row] = await server.query<{ count: string }>(address, 'SELECT count(*) FROM touchstone.runs');
    return Number(row!.count);
  };
  // On a slow machine, a host may be killed before it has connected: such rounds alone would test nothing.
  for (let round = 0; round < rounds || (round < 5 * rounds && (await countCopied()) <= fewestCopied); round += 1) {
    const hosts = directories.map((directory) => recordAndKill(directory, address, runsBefore(round)));
    const [ids, kills] = await Promise.all([Promise.all(hosts), killServer(server, killServerAfter(round))]);
    answered.push(...ids.flat());
    serverKills += kills;
  }
  const copiedBefore = await countCopied();
  const counts: { runs: number; feedback: number }[] = [];
  for (const directory of directories) counts.push(await copyRest(directory, address));
  const stored = await server.query<{ id: string; content: string }>(
    address,
    `SELECT id, contents->>'content' AS content FROM touchstone.runs JOIN touchstone.run_texts USING (sequence, created_at)`,
  );
  const contents = new Map(stored.map(({ id, content }) => [id, content]));
  const problems = answered
    .filter((id) => contents.get(id) !== id)
    .map((id) => `the answered run ${id} isn't in the team database as it was answered`);
  const sum = (name: 'runs' | 'feedback') => counts.reduce((total, each) => total + each[name], 0);
  if (stored.length !== sum('runs'))
    problems.push(`the hosts have ${sum('runs')} runs, the team database ${stored.length}`);
  const [history] = await server.query<{ count: string }>(address, 'SELECT count(*) FROM touchstone.feedback_history');
  if (Number(history!.count) !== sum('feedback')) {
    problems.push(`the hosts have ${sum('feedback')} entries of feedback, the team database ${history!.count}`);
  }
  for (const [problem, statement] of Object.entries(checks)) {
    for (const { id } of await server.query<{ id: string }>(address, statement)) problems.push(`${problem}: ${id}`);
  }
  return {
    serverKills,
    answered: answered.length,
    copiedBefore,
    copied: stored.length,
    problems,
  };
}
