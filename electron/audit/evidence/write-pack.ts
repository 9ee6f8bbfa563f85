import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import type { ExportRows } from '../../storage/export-rows.ts';
import { exportRecord } from './export-record.ts';
import { conversationsOfPage, type PageHead } from './html-page.ts';
import { createNameReader, selectionDetails, timeZoneOf } from './pack-details.ts';
import { packFiles, readCheckpoint, writeJson, type PackCheckpoint, type PackPlan } from './pack-store.ts';
import { createCsvWriter, createHtmlWriter, createJsonLinesWriter, type PackWriter } from './pack-writers.ts';
import { createRedactor } from './redaction.ts';
import { readSelection } from './pack-selection.ts';

/** How long is written before what is written is made safe: so much is done again after a crash. */
const checkpointMilliseconds = 200;

/** How long is worked before messages are looked at. */
const turnMilliseconds = 20;

export interface WritePackOptions {
  readonly folder: string;
  readonly plan: PackPlan;
  /** Conversations that were selected. */
  readonly conversations: number;
  readonly rows: ExportRows;
  /** Called after each checkpoint. */
  readonly onProgress: (progress: PackCheckpoint) => void;
  readonly signal: AbortSignal;
}

/** A pack whose files are written but not yet checked. */
export type WrittenPack = Pick<PackCheckpoint, 'conversations' | 'runs' | 'replaced' | 'lengths'>;

const beginning: Omit<PackCheckpoint, 'replaced'> = { offset: 0, conversations: 0, runs: 0, lengths: {} };

/**
 * Writes the files of a pack, going on from the last checkpoint. What comes out depends on the selection alone, not on how
 * often it was interrupted. Resolves with null when the signal ended it; then a checkpoint has everything.
 */
export async function writePack(options: WritePackOptions): Promise<WrittenPack | null> {
  const { plan, rows, signal } = options;
  const files = packFiles(options.folder);
  // It was put in its place, but its end was not noted any more: what follows is done again.
  if (existsSync(files.pack)) await rename(files.pack, files.partial);
  await mkdir(files.partial, { recursive: true, mode: 0o700 });
  const start = (await readCheckpoint(files.checkpoint)) ?? {
    ...beginning,
    replaced: plan.input.rules.map(() => 0),
  };
  const redactor = createRedactor(plan.input.rules);
  // Names stand in the pages alone, so what is replaced in them is not among the counts.
  const namesOf = createNameReader(rows, createRedactor(plan.input.rules));
  const writers = await openWriters(files.partial, options, start);
  let { offset, conversations, runs } = start;

  async function checkpoint(): Promise<PackCheckpoint> {
    const lengths = Object.assign({}, ...(await Promise.all(writers.map((writer) => writer.sync()))));
    const replaced = start.replaced.map((count, rule) => count + redactor.counts[rule]!);
    const state: PackCheckpoint = { offset, conversations, runs, replaced, lengths };
    await writeJson(files.checkpoint, state);
    options.onProgress(state);
    return state;
  }

  try {
    let turnEnd = performance.now() + turnMilliseconds;
    let nextCheckpoint = performance.now() + checkpointMilliseconds;
    for await (const selected of readSelection(files.selection, start)) {
      const matched = new Set(selected.runs);
      const found = rows
        .runs(selected.conversation, plan.lastRun)
        .filter(({ sequence }) => plan.input.runs === 'all' || matched.has(sequence));
      const records = found.map((row) => {
        const context = { snapshotAt: plan.createdAt, isMatched: matched.has(row.sequence) };
        return exportRecord(row, plan.input.columns, context, redactor);
      });
      const names = plan.input.formats.includes('html') ? found.map(namesOf) : [];
      for (const writer of writers) await writer.write(conversations, records, names);
      conversations += 1;
      runs += records.length;
      offset = selected.offset;
      if (performance.now() < turnEnd) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turnEnd = performance.now() + turnMilliseconds;
      if (signal.aborted) break;
      if (performance.now() < nextCheckpoint) continue;
      await checkpoint();
      nextCheckpoint = performance.now() + checkpointMilliseconds;
    }
    if (signal.aborted) {
      await checkpoint();
      return null;
    }
    for (const writer of writers) await writer.end();
    const lengths = Object.assign({}, ...(await Promise.all(writers.map((writer) => writer.sync()))));
    const replaced = start.replaced.map((count, rule) => count + redactor.counts[rule]!);
    return { conversations, runs, replaced, lengths };
  } finally {
    await Promise.all(writers.map((writer) => writer.close()));
  }
}

function openWriters(
  folder: string,
  { plan, conversations: total, rows }: WritePackOptions,
  { lengths, conversations }: PackCheckpoint,
): Promise<PackWriter[]> {
  const head: PageHead = {
    name: plan.name,
    details: selectionDetails(plan, total, rows.names),
    timeZone: timeZoneOf(plan),
    pages: Math.max(1, Math.ceil(total / conversationsOfPage)),
  };
  const openers = {
    html: () => createHtmlWriter(folder, lengths, head, conversations),
    jsonl: () => createJsonLinesWriter(folder, lengths),
    csv: () => createCsvWriter(folder, lengths, plan.input.columns),
  } as const;
  return Promise.all(plan.input.formats.map((format) => openers[format]()));
}
