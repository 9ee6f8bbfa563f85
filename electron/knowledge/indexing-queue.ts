import { AppError } from '../../shared/app-error.ts';
import type { SourceProgress } from '../../shared/contract/knowledge-window.ts';
import { JobRun } from '../common/jobs.ts';
import type { Log } from '../log.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';
import type { SourceMetadata, SourceStore, StoredSource } from '../storage/knowledge/source-store.ts';
import { target } from './chunking/passage-builder.ts';
import type { KnowledgeIndex } from './index/knowledge-index.ts';
import type { ParsedSource, Passage, SourceReader } from './parsing/parsed-source.ts';
import type { SourceFiles } from './source-files.ts';
import type { TextEmbedder } from './text-embedder.ts';

/** Passages that are embedded and written together: about half a second of work, so that Stop and progress respond quickly. */
const batchSize = 32;

const uncancelled = new AbortController().signal;

interface IndexingTools {
  readonly files: SourceFiles;
  readonly reader: SourceReader;
  readonly embedder: () => TextEmbedder;
  readonly index: KnowledgeIndex;
}

interface IndexingOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SourceProgress) => void;
  /** Called once, after the first passages of this attempt are written. */
  readonly onWritten: () => void;
}

const reading = (fraction: number): SourceProgress => ({
  stage: 'reading',
  fraction,
  passagesDone: null,
  passagesTotal: null,
  rate: null,
});

/** Headings name the subject of a passage that doesn't name it itself. */
const embeddedText = ({ heading, text }: Passage) => (heading === null ? text : `${heading}\n${text}`);

/**
 * Indexes one source from its file to searchable passages. Resumes an interrupted indexing of the same revision, unless the parser
 * has changed. Rejects with an `AppError` that gives the reason, or with an `AbortError`.
 */
async function indexSource(
  source: StoredSource,
  tools: IndexingTools,
  { signal, onProgress, onWritten }: IndexingOptions,
): Promise<SourceMetadata> {
  const { files, reader, index } = tools;
  const embedder = tools.embedder();
  const { id, fileName, mediaType, dataspaceId } = source;
  onProgress(reading(0));
  if (!(await files.exists(id))) throw new AppError('not_found', 'The file of this source is missing. Add it again.');
  const file = { path: files.path(id), fileName, mediaType };
  const parsed = await reader.readSource(file, { signal, onProgress: (fraction) => onProgress(reading(fraction)) });
  await files.writeText(id, parsed);
  // Another version of the parser may chunk differently, and then older passages don't fit.
  const chunking = `${target.characters}/${parsed.text.length}/${parsed.passages.length}`;
  const revision = `${source.revision}/${embedder.model}/${chunking}`;
  const opened = await index.begin({ sourceId: id, dataspaceId, revision, embeddingModel: embedder.model }, { signal });
  await writePassages(parsed, {
    first: opened.passages,
    sourceId: id,
    revision,
    embedder,
    index,
    signal,
    onProgress,
    onWritten,
  });
  const { passages } = await index.finish({ sourceId: id, revision }, { signal });
  return {
    passages,
    pages: parsed.pages?.length ?? null,
    characters: parsed.text.length,
    embeddingModel: embedder.model,
  };
}

interface Writing extends IndexingOptions {
  readonly first: number;
  readonly sourceId: string;
  readonly revision: string;
  readonly embedder: TextEmbedder;
  readonly index: KnowledgeIndex;
}

/** Embeds the next passages while the previous ones are written. */
async function writePassages({ passages }: ParsedSource, writing: Writing): Promise<void> {
  const { first, sourceId, revision, embedder, index, signal, onProgress, onWritten } = writing;
  const startedAt = performance.now();
  const tell = (done: number): void => {
    const seconds = (performance.now() - startedAt) / 1000;
    onProgress({
      stage: 'embedding',
      fraction: done / passages.length,
      passagesDone: done,
      passagesTotal: passages.length,
      rate: done === first ? null : (done - first) / seconds,
    });
  };
  tell(first);
  let writingBefore = Promise.resolve();
  try {
    for (let position = first; position < passages.length; position += batchSize) {
      const batch = passages.slice(position, position + batchSize);
      const embedding = embedder.embed(batch.map(embeddedText), { signal });
      // Awaited together, so that no rejection is unhandled.
      const [vectors] = await Promise.all([embedding, writingBefore]);
      tell(position);
      if (position === first + batchSize) onWritten();
      // Embedded passages are written even after a stop, so that they need not be embedded again.
      const batchToWrite = { sourceId, revision, first: position, passages: batch, vectors };
      writingBefore = index.add(batchToWrite, { signal: uncancelled });
    }
  } finally {
    await writingBefore.catch(() => {});
  }
  await writingBefore;
  tell(passages.length);
}

/**
 * Max bytes of a source for each lane. A large file can take a quarter of an hour. The second lane is for small files, which take
 * seconds.
 */
const lanes: readonly number[] = [Number.MAX_SAFE_INTEGER, 1_048_576];

/** A source fails after it has ended the process this often. */
const maxAttempts = 10;

/**
 * Milliseconds that a lane waits after it couldn't store a result because the disk is full. The wait doubles with every consecutive
 * failure.
 */
const minPause = 2000;
const maxPause = 120_000;

const gaveUp =
  'The service stopped several times while it read this file. If something else stopped it, re-index the source. Otherwise split the file.';
const ourFault = 'Unexpected error in Touchstone. Re-index the source. The log has details.';

const waiting: SourceProgress = { stage: 'waiting', fraction: 0, passagesDone: null, passagesTotal: null, rate: null };

interface ActiveSource {
  readonly run: JobRun;
  progress: SourceProgress;
}

export interface IndexingQueueOptions extends IndexingTools {
  readonly sources: SourceStore;
  /** Called at every change of a source's status or progress. */
  readonly onChange: (sourceId: string) => void;
  readonly log: Log;
}

/**
 * Indexes sources, which then become `Ready` or `Failed`. The source that has waited longest is first; sources that ended the process come
 * last. The queue is in the database, so it continues after a crash.
 */
export interface IndexingQueue {
  /** Starts indexing. */
  start(): void;
  /** Starts idle lanes. Call it after a source became `Processing`. */
  wake(): void;
  /** Skips a source until it is released. Both may be called for an unknown source. */
  hold(sourceId: string): void;
  /** Allows a held source to be indexed. Call `wake` afterwards. */
  release(sourceId: string): void;
  progressOf(source: Pick<StoredSource, 'id' | 'status'>): SourceProgress | null;
  /** Ids of the sources that are being indexed. */
  current(): string[];
  /** Stops indexing these sources. Store their new status first. Resolves when nothing writes to them. */
  cancel(sourceIds: readonly string[]): Promise<void>;
  /** Stops indexing. Sources stay `Processing` and continue at the next start. */
  close(): Promise<void>;
}

export function createIndexingQueue(options: IndexingQueueOptions): IndexingQueue {
  /** The sources that are being indexed, by id. */
  const active = new Map<string, ActiveSource>();
  /** Busy lanes. Each promise resolves when its lane has nothing to do. */
  const running = new Map<number, Promise<void>>();
  /** Stored sources whose files aren't in place yet. */
  const pending = new Set<string>();
  let pause = minPause;
  let isStarted = false;
  let isClosed = false;

  function start(): void {
    isStarted = true;
    wake();
  }

  function wake(): void {
    if (!isStarted) return;
    for (const lane of lanes.keys()) {
      const source = running.has(lane) ? null : next(lane);
      if (source) running.set(lane, runLane(lane, source));
    }
  }

  function progressOf({ id, status }: Pick<StoredSource, 'id' | 'status'>): SourceProgress | null {
    if (status !== 'Processing') return null;
    return active.get(id)?.progress ?? waiting;
  }

  async function cancel(sourceIds: readonly string[]): Promise<void> {
    const cancelled = sourceIds.flatMap((id) => active.get(id) ?? []);
    await Promise.all(cancelled.map((job) => job.run.stop()));
  }

  async function close(): Promise<void> {
    isClosed = true;
    for (const job of active.values()) void job.run.stop();
    await Promise.all(running.values());
  }

  function next(lane: number): StoredSource | null {
    if (isClosed) return null;
    return options.sources.nextProcessing({
      maximumBytes: lanes[lane]!,
      except: [...active.keys(), ...pending],
    });
  }

  async function runLane(lane: number, first: StoredSource): Promise<void> {
    try {
      for (let source: StoredSource | null = first; source; source = next(lane)) {
        await index(source);
        pause = minPause;
      }
    } catch (error) {
      options.log('indexing rests for a while', error);
      setTimeout(wake, pause).unref();
      pause = Math.min(2 * pause, maxPause);
    }
    // Without an await after the last `next`, so that no call of `wake` is missed.
    running.delete(lane);
  }

  async function index(source: StoredSource): Promise<void> {
    const job = { run: new JobRun(), progress: waiting };
    active.set(source.id, job);
    await job.run.start(
      (signal) => take(source, job, signal),
      () => {
        active.delete(source.id);
        options.onChange(source.id);
      },
    );
  }

  async function take(source: StoredSource, job: ActiveSource, signal: AbortSignal): Promise<void> {
    const { sources, onChange } = options;
    const { id, revision } = source;
    if (source.attempts >= maxAttempts) return void sources.fail(id, revision, gaveUp);
    sources.setAttempts(id, source.attempts + 1);
    try {
      const details = await indexSource(source, options, {
        signal,
        onProgress: (progress) => {
          job.progress = progress;
          onChange(id);
        },
        // There was progress, so a crash from here on isn't caused by the file.
        onWritten: () => sources.setAttempts(id, 0),
      });
      sources.complete(id, revision, details);
    } catch (error) {
      if (!signal.aborted) sources.fail(id, revision, reasonOf(error));
      else if (isClosed) sources.setAttempts(id, source.attempts);
    }
  }

  function reasonOf(error: unknown): string {
    if (error instanceof AppError) return error.message;
    options.log('a source could not be indexed', error);
    return describeDiskFailure(error)?.message ?? ourFault;
  }

  return {
    start,
    wake,
    hold: (sourceId) => void pending.add(sourceId),
    release: (sourceId) => void pending.delete(sourceId),
    progressOf,
    current: () => [...active.keys()],
    cancel,
    close,
  };
}
