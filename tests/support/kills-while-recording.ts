import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import { databaseFile } from '../../electron/storage/database.ts';
import { openStorage } from '../../electron/storage/open-storage.ts';
import { sampleCall } from '../unit/storage/sample-run.ts';
import { runUntilKilled } from './kill-process.ts';

const script = fileURLToPath(new URL('../unit/storage/recording-process.ts', import.meta.url));

export interface RecordingKillsOptions {
  readonly directory: string;
  readonly kills: number;
  /** How many runs each process answers before its life is taken. */
  readonly runsBefore: (kill: number) => number;
}

export interface RecordingKillsReport {
  /** Runs whose callers were told that they are kept. */
  readonly answered: number;
  /** Everything that should not be: a run that is missing or half, a database or an index that is not whole. */
  readonly problems: readonly string[];
}

/** The ids that were printed before the process was killed; the last line may have been cut in the middle. */
async function recordAndKill(directory: string, runs: number): Promise<string[]> {
  const printed: string[] = [];
  await runUntilKilled(script, [directory], (line) => printed.push(line) === runs);
  return printed.filter((id) => id.length === 36);
}

function problemsOfDatabase(directory: string): string[] {
  const database = new Database(databaseFile(directory));
  const integrity = database.pragma('integrity_check', { simple: true }) as string;
  const references = database.pragma('foreign_key_check') as unknown[];
  database.close();
  return [
    ...(integrity === 'ok' ? [] : [`the database is not whole: ${integrity}`]),
    ...references.map((row) => `a row refers to nothing: ${JSON.stringify(row)}`),
  ];
}

/** What the next host finds of the answered runs: in the database, in the audit's list and by their words. */
async function problemsOfRuns(directory: string, answered: readonly string[]): Promise<string[]> {
  const storage = openStorage({ directory });
  const { signal } = new AbortController();
  const search = async (filter: { text?: string }) =>
    (await storage.audit.search({ filter, sort: 'newest', limit: 1 }, { signal })).total;
  const lost = answered.filter((id) => {
    const run = storage.runs.read(id);
    const calls = storage.runs.readToContinue(id)?.toolCalls;
    return run?.status !== 'Completed' || run.output.content !== id || !isDeepStrictEqual(calls, [sampleCall(id)]);
  });
  const listed = await search({});
  const problems = lost.map((id) => `the answered run ${id} is not there as it was answered`);
  // Each run has a conversation of its own.
  if (listed !== storage.runs.count())
    problems.push(`${storage.runs.count()} runs are kept, the audit lists ${listed}`);
  for (const id of [answered[0]!, answered.at(-1)!]) {
    if ((await search({ text: `"${id}"` })) !== 1) problems.push(`the run ${id} is not found by its words`);
  }
  const { data } = storage.runs.list({ pageSize: 100, continuationToken: undefined, draftId: undefined });
  for (const { runId, status } of data) if (status === 'Running') problems.push(`the run ${runId} never ends`);
  await storage.close();
  return problems;
}

/** Takes the life of a host that records, again and again in the same folder, and looks at what is left each time. */
export async function killWhileRecording(options: RecordingKillsOptions): Promise<RecordingKillsReport> {
  const { directory, kills, runsBefore } = options;
  const answered: string[] = [];
  const problems: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    answered.push(...(await recordAndKill(directory, runsBefore(kill))));
    problems.push(...problemsOfDatabase(directory));
  }
  problems.push(...(await problemsOfRuns(directory, answered)));
  return { answered: answered.length, problems };
}
