import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import type { ExportRows } from '../../storage/export-rows.ts';
import { exportRecord } from './export-record.ts';
import { conversationsOfPage, type PageHead } from './html-page.ts';
import { createNameReader, redactedPlan, selectionDetails, timeZoneOf } from './pack-details.ts';
import { packFiles, readCheckpoint, writeJson, type PackCheckpoint, type PackPlan } from './pack-store.ts';
import { createCsvWriter, createHtmlWriter, createJsonLinesWriter, type PackWriter } from './pack-writers.ts';
import { createPromptFileCopier } from './prompt-files.ts';
import { createRedactor, type Redactor } from './redaction.ts';
import { readSelection } from './pack-selection.ts';
import type { SelectedConversation } from '../query/selection.ts';

/** Time between checkpoints. After a crash this much work is repeated. */
const checkpointMilliseconds = 200;

/** Time until the thread handles its messages. */
const turnMilliseconds = 20;

export interface WritePackOptions {
  readonly folder: string;
  /** The contents of the files of prompts. */
  readonly filesDirectory: string;
  readonly plan: PackPlan;
  /** Conversations that were selected. */
  readonly conversations: number;
  readonly rows: ExportRows;
  /** Called after each checkpoint. */
  readonly onProgress: (progress: PackCheckpoint) => void;
  readonly signal: AbortSignal;
}

/** A pack whose files are written but not yet checked. */
export type WrittenPack = Pick<PackCheckpoint, 'conversations' | 'runs' | 'replaced' | 'lengths' | 'missingFiles'>;

function firstCheckpoint({ input }: PackPlan): PackCheckpoint {
  return { offset: 0, conversations: 0, runs: 0, lengths: {}, replaced: input.rules.map(() => 0) };
}

/** The runs of a conversation that the pack contains. */
function exportedRuns({ plan, rows }: WritePackOptions, selected: SelectedConversation) {
  const matched = new Set(selected.runs);
  return rows
    .runs(selected.conversation, plan.lastRun)
    .map((row) => ({ row, isMatched: matched.has(row.sequence) }))
    .filter(({ isMatched }) => plan.input.runs === 'all' || isMatched);
}

type ExportedRuns = ReturnType<typeof exportedRuns>;

/** Converts runs to what the writers take. */
function createConverter({ plan, rows }: WritePackOptions, redactor: Redactor) {
  const { columns, formats, rules, selection } = plan.input;
  // Runs of the team have ended, perhaps by a clock that is ahead.
  const snapshotAt = selection.source === 'team' ? Number.POSITIVE_INFINITY : plan.createdAt;
  // Only the HTML pages contain names, so replacements in them aren't counted.
  const namesOf = formats.includes('html') ? createNameReader(rows, createRedactor(rules)) : null;
  return (exported: ExportedRuns) => ({
    records: exported.map(({ row, isMatched }) => exportRecord(row, columns, { snapshotAt, isMatched }, redactor)),
    names: namesOf ? exported.map(({ row }) => namesOf(row)) : [],
  });
}

async function prepareFolder({ pack, partial }: ReturnType<typeof packFiles>): Promise<void> {
  // The last host renamed the folder but ended before it saved the result. The rest is done again.
  if (existsSync(pack)) await rename(pack, partial);
  await mkdir(partial, { recursive: true, mode: 0o700 });
}

/**
 * Writes the files of a pack from the last checkpoint on. The files depend only on the selection, not on interruptions. Resolves with
 * null when the signal is aborted; a checkpoint then has all progress.
 */
export async function writePack(options: WritePackOptions): Promise<WrittenPack | null> {
  const { plan, signal } = options;
  const files = packFiles(options.folder);
  await prepareFolder(files);
  const start = (await readCheckpoint(files.checkpoint)) ?? firstCheckpoint(plan);
  const redactor = createRedactor(plan.input.rules);
  const convert = createConverter(options, redactor);
  const writers = await openWriters(files.partial, options, start);
  const promptFiles = createPromptFileCopier({
    source: options.filesDirectory,
    pack: files.partial,
    partial: files.partialFile,
    missing: start.missingFiles ?? [],
  });
  let { offset, conversations, runs } = start;

  /** Flushes the files first: the checkpoint must not count anything that a crash could lose. */
  async function progress(): Promise<PackCheckpoint> {
    const lengths = Object.assign({}, ...(await Promise.all(writers.map((writer) => writer.sync()))));
    const replaced = start.replaced.map((count, rule) => count + redactor.counts[rule]!);
    return { offset, conversations, runs, replaced, lengths, missingFiles: [...promptFiles.missing] };
  }

  async function checkpoint(): Promise<void> {
    const state = await progress();
    await writeJson(files.checkpoint, state);
    options.onProgress(state);
  }

  try {
    let turnEnd = performance.now() + turnMilliseconds;
    let nextCheckpoint = performance.now() + checkpointMilliseconds;
    for await (const selected of readSelection(files.selection, start)) {
      const exported = exportedRuns(options, selected);
      if (plan.input.files) for (const { row } of exported) await promptFiles.copy(row);
      const { records, names } = convert(exported);
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
    const { offset: _end, ...written } = await progress();
    return written;
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
    name: redactedPlan(plan).name,
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
