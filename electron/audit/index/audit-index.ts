import type Database from 'better-sqlite3';
import { type ToolCall, withCalls } from '../../../shared/contract/tools.ts';
import { unescapeJson } from '../../../shared/json-escapes.ts';
import { toolCallsIn } from '../../storage/stored-messages.ts';
import { createAuditSource, type AuditSource, type SourceText } from './audit-source.ts';
import { blockOf, blockRuns } from './bits.ts';
import { BlockStore } from './block-store.ts';
import { FeedbackIndex } from './feedback-index.ts';
import { createIndexCheckpoints, type IndexCheckpoints, openIndexDatabase } from './index-database.ts';
import { Terms } from './terms.ts';
import { TextIndex } from './text-index.ts';
import { Timeline } from '../query/timeline.ts';

/** Runs that are read at a time. */
const readRuns = 2000;
/** Runs whose texts are read at a time: each text can have megabytes. */
const readTexts = 50;

/** The calls without escapes, because the n of a line end would become part of the next word. */
function readableCalls(json: string): ToolCall[] {
  return toolCallsIn(json).map((call) => ({ ...call, arguments: unescapeJson(call.arguments) }));
}

/** The searched texts of a run: its instructions and prompt, and its answer with the called tools. */
export function searchedTexts({ system_message, rendered_prompt, content, tool_calls_json }: SearchedColumns) {
  return {
    prompt: system_message === null ? rendered_prompt : `${system_message}\n${rendered_prompt}`,
    answer: tool_calls_json === null ? content : withCalls(content, readableCalls(tool_calls_json)),
  };
}

type SearchedColumns = Pick<SourceText, 'system_message' | 'rendered_prompt' | 'content' | 'tool_calls_json'>;

/**
 * The search index of a million runs, in a separate file that can be rebuilt from the database: the order of the runs, the runs of each
 * value, and the words of their texts. It follows the recorder by reading committed runs.
 */
export class AuditIndex {
  readonly source: AuditSource;
  readonly feedback = new FeedbackIndex();
  readonly texts: TextIndex;
  readonly #database: Database.Database;
  readonly #checkpoints: IndexCheckpoints;
  readonly #unendedTexts: Set<number>;
  /** Whether one of these runs may have ended. Otherwise each slice of the work would read all of them again. */
  #mayHaveEnded = true;
  timeline = new Timeline();
  terms!: Terms;
  blocks!: BlockStore;
  /** Grows when runs are removed, changed or inserted between others, which invalidates all lists. */
  generation = 0;
  #revision: number;

  /** `database` has the runs and may be read-only. `directory` is the folder of the index. */
  constructor(database: Database.Database, directory: string) {
    this.source = createAuditSource(database);
    this.#database = openIndexDatabase(directory, (index) => createIndexCheckpoints(index).fit(this.source));
    this.#checkpoints = createIndexCheckpoints(this.#database);
    this.texts = new TextIndex(this.#database);
    this.#unendedTexts = new Set(this.#checkpoints.unendedTexts());
    this.#revision = this.#checkpoints.read('revision');
    for (const row of this.source.feedback()) this.feedback.set(row);
    this.#load();
  }

  close(): void {
    this.#database.close();
  }

  /** Indexes every run that was recorded, ended or changed since the last call, at a few microseconds each. */
  follow(): void {
    const last = this.source.lastRun();
    this.#mayHaveEnded = true;
    this.#followChanges();
    this.#endRunning();
    while (this.timeline.lastRun < last) {
      const runs = this.source.runs(this.timeline.lastRun + 1, last, readRuns);
      if (runs.length === 0) break;
      for (const run of runs) {
        this.blocks.openBlock(blockOf(run.sequence)).put(run);
        this.timeline.append(run.sequence, run.conversation, run.created_at);
      }
      this.#seal();
    }
    if (this.timeline.restoreOrder()) this.generation += 1;
  }

  /**
   * Indexes the words of runs that `follow` has read, at 10 to 100 µs each, and ends after `milliseconds`. Returns false if none are left. All of them are one
   * transaction, because FTS5 writes what it gathered at the end of each.
   */
  followTexts(milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    const ended = this.#endedTexts();
    let texts = this.#nextTexts();
    if (texts.length === 0 && ended.length === 0) return false;
    this.blocks.transaction(() => {
      for (const text of ended) this.#addText(text);
      while (texts.length > 0) {
        for (const text of texts) {
          if (text.status === 'Running') this.#awaitEnd(text.run);
          else this.#addText(text);
        }
        this.#checkpoints.write('texts', texts.at(-1)!.run);
        this.#markRun(texts.at(-1)!.run);
        if (performance.now() >= end) return;
        texts = this.#nextTexts();
      }
    });
    return texts.length > 0;
  }

  /** Erases a small part of the words of removed and changed runs. Returns false when nothing is left. Takes a few milliseconds. */
  erase(): boolean {
    return this.texts.erasure.step();
  }

  /** Later runs wait for `follow`: if one of them is removed first, `follow` wouldn't know that its words are in the index. */
  #nextTexts(): SourceText[] {
    return this.source.texts(this.#checkpoints.read('texts') + 1, this.timeline.lastRun, readTexts);
  }

  /** The texts of runs that have ended since the last time. */
  #endedTexts(): SourceText[] {
    if (!this.#mayHaveEnded) return [];
    this.#mayHaveEnded = false;
    return Array.from(this.#unendedTexts, (run) => this.source.text(run))
      .filter((text) => text !== null)
      .filter(({ status }) => status !== 'Running');
  }

  #load(): void {
    this.timeline = new Timeline();
    this.terms = new Terms(this.#database);
    this.blocks = new BlockStore(this.#database, this.terms, this.timeline);
    const last = this.source.lastRun();
    for (let block = 0; block <= blockOf(last); block += 1) {
      if (this.blocks.isSealed(block)) this.blocks.replay(block);
      else this.#readBlock(block, last);
      this.#seal();
    }
    this.timeline.restoreOrder();
  }

  #readBlock(block: number, last: number): void {
    const end = Math.min(last, (block + 1) * blockRuns - 1);
    for (const run of this.source.runs(block * blockRuns, end, blockRuns)) {
      this.blocks.openBlock(block).put(run);
      this.timeline.append(run.sequence, run.conversation, run.created_at);
    }
  }

  #seal(): void {
    const newest = blockOf(this.timeline.lastRun);
    for (const [block, open] of this.blocks.open) {
      if (block >= newest || open.runningRuns.length > 0) continue;
      this.blocks.transaction(() => {
        this.blocks.seal(block);
        this.#markRun(this.timeline.lastRun);
      });
    }
  }

  #endRunning(): void {
    for (const [block, open] of this.blocks.open) {
      for (const sequence of open.runningRuns) {
        const run = this.source.run(sequence);
        if (run === null || run.status === 'Running') continue;
        this.blocks.touch(block);
        open.put(run);
      }
    }
    this.#seal();
  }

  #followChanges(): void {
    let changes = this.source.changes(this.#revision);
    if (changes.length === 0) return;
    const changed = new Set<number>();
    while (changes.length > 0) {
      for (const { run, kind } of changes) {
        if (kind === 'run') changed.add(run);
        this.#readFeedback(run);
      }
      this.#revision = changes.at(-1)!.revision;
      changes = this.source.changes(this.#revision);
    }
    const indexed = [...changed].filter((run) => run <= this.timeline.lastRun);
    this.blocks.transaction(() => {
      this.#checkpoints.write('revision', this.#revision);
      this.#reindex(indexed);
      if (indexed.length > 0) this.#updateNewestRun();
    });
    if (indexed.length > 0) this.#load();
  }

  #readFeedback(run: number): void {
    const row = this.source.feedbackOf(run);
    if (row === null) this.feedback.delete(run);
    else this.feedback.set(row);
  }

  /** Reads the blocks of changed runs again. Changes after the end of a run (removed, anonymised, new workspace or version) are rare. */
  #reindex(runs: readonly number[]): void {
    if (runs.length === 0) return;
    this.generation += 1;
    const through = this.#checkpoints.read('texts');
    this.texts.erasure.begin();
    for (const block of new Set(runs.map(blockOf))) this.blocks.unseal(block);
    this.terms.forgetUnused();
    for (const run of runs) {
      if (run > through || this.#unendedTexts.has(run)) continue;
      this.texts.remove(run);
      const text = this.source.text(run);
      if (text !== null) this.#addText(text);
    }
    for (const run of this.#unendedTexts) if (this.source.text(run) === null) this.#forgetText(run);
  }

  #forgetText(run: number): void {
    this.#unendedTexts.delete(run);
    this.#checkpoints.gotText(run);
  }

  #awaitEnd(run: number): void {
    this.#unendedTexts.add(run);
    this.#checkpoints.awaitText(run);
  }

  #addText(text: SourceText): void {
    const { run } = text;
    this.texts.add({ run, ...searchedTexts(text) });
    if (this.#unendedTexts.delete(run)) this.#checkpoints.gotText(run);
    this.blocks.touch(blockOf(run));
  }

  /** If the run by which the index recognises its database was removed, chooses another one. */
  #updateNewestRun(): void {
    const named = this.#checkpoints.read('run');
    if (named === 0 || this.source.runId(named) !== null) return;
    const last = this.source.lastRun();
    if (last === 0) this.#checkpoints.forgetRun();
    else this.#checkpoints.writeRun(last, this.source.runId(last)!);
  }

  /** Stores the newest sealed run, by which the index recognises its database at the next start. */
  #markRun(sequence: number): void {
    if (sequence < this.#checkpoints.read('run')) return;
    const id = this.source.runId(sequence);
    if (id !== null) this.#checkpoints.writeRun(sequence, id);
  }
}
