/** Entry point of the thread that reads logs; started by `create-log-imports.ts`. */
import Database from 'better-sqlite3';
import type { LogFormat, LogPreview, LogReport } from '../../../shared/contract/log-imports.ts';
import { type CallContext, serveCalls } from '../../common/worker-server.ts';
import { type CallSource, type ImportedRun, runIdsOf, runOfCall, SeenMessages } from './call-run.ts';
import type { ColumnMap } from './file-calls.ts';
import type { LeftOut, LogCall } from './log-call.ts';
import { type LogFile, type LogItem, openLog } from './read-log.ts';
import { LogReporter } from './log-report.ts';
import { otlpCalls } from './otlp-calls.ts';

const runsAtOnce = 40;
/** Characters of about so many texts. The main thread stores them in one transaction. */
const charactersAtOnce = 131_072;

/** The next runs of a log. */
export interface LogBatch {
  readonly runs: readonly ImportedRun[];
  /** Entries that were read until now, from the start of the file. */
  readonly position: number;
  readonly bytes: number;
  readonly report: LogReport;
  readonly isDone: boolean;
}

export interface ReadTraces {
  readonly runs: readonly ImportedRun[];
  readonly leftOut: number;
}

/** Who imports a log, and when. */
type FileSource = Omit<CallSource, 'format' | 'seen'>;

/** Of a file that is only read. */
const noSource = { callerId: '', apiKeyId: null, importedAt: 0, level: 'all' as const, rules: [] };

interface OpenRequest {
  readonly file: LogFile;
  readonly source: FileSource;
}

interface Reading {
  readonly items: AsyncGenerator<LogItem>;
  readonly source: CallSource;
  readonly reporter: LogReporter;
  position: number;
}

let reading: Reading | null = null;

/** Traces of one conversation come in several requests. */
const seenInTraces = new SeenMessages();

function excerpt(text: string): string {
  return text.slice(0, 300).replace(/[\uD800-\uDBFF]$/, '');
}

const methods = {
  /** Reads all of a file. `databaseFile` has the runs that are stored already. */
  async inspect(
    { file, databaseFile, hostId }: { file: LogFile; databaseFile: string; hostId: string },
    { pause }: CallContext,
  ): Promise<LogPreview> {
    const log = await openLog(file);
    const database = new Database(databaseFile, { readonly: true });
    try {
      const find = database.prepare<[string], 1>('SELECT 1 FROM runs WHERE id = ?').pluck();
      const reporter = new LogReporter((id) => find.get(id) === 1);
      const source = { ...noSource, hostId, format: log.format, seen: null };
      const examples: LogPreview['examples'] = [];
      let count = 0;
      for await (const { item } of log.items()) {
        if ((count += 1) % 1000 === 0) await pause();
        const imported = reporter.add(item, source);
        if (imported === null || examples.length >= 5) continue;
        const { run, outcome } = imported;
        const createdAt = run.createdAt === 0 ? null : new Date(run.createdAt).toISOString();
        examples.push({
          model: run.model,
          createdAt,
          prompt: excerpt(run.renderedPrompt),
          answer: excerpt(outcome.content),
        });
      }
      const columns = Object.entries(log.columns).map(([name, field]) => ({ name, field }));
      return { format: log.format, columns, report: reporter.report(), examples };
    } finally {
      database.close();
    }
  },
  /** Opens a file for `next`. */
  async open({ file, source }: OpenRequest): Promise<{ format: LogFormat; columns: ColumnMap }> {
    const { format, columns, items } = await openLog(file);
    // The job finds the runs that are stored already.
    reading = {
      items: items(),
      source: { ...source, format, seen: new SeenMessages() },
      reporter: new LogReporter(() => false),
      position: 0,
    };
    return { format, columns };
  },
  /** The next runs after a position. Entries before it are read again, but not returned. */
  async next({ after }: { after: number }, { pause }: CallContext): Promise<LogBatch> {
    const { items, source, reporter } = reading!;
    const runs: ImportedRun[] = [];
    let [characters, bytes, isDone] = [0, 0, false];
    while (runs.length < runsAtOnce && characters < charactersAtOnce) {
      const { done, value } = await items.next();
      if (done) {
        isDone = true;
        break;
      }
      reading!.position += 1;
      if (reading!.position % 1000 === 0) await pause();
      bytes = value.bytes;
      const imported = reporter.add(value.item, source);
      if (imported === null || reading!.position <= after) continue;
      runs.push(imported);
      characters += imported.run.renderedPrompt.length * 3 + imported.outcome.content.length;
    }
    return { runs, position: reading!.position, bytes, report: reporter.report(), isDone };
  },
  /** The calls of a request of OTLP. */
  traces({ request, source }: { request: Record<string, unknown>; source: FileSource }): ReadTraces {
    const items: (LogCall | LeftOut)[] = otlpCalls(request);
    const seen = new Set<string>();
    const runs = items.flatMap((item) => {
      if ('leftOut' in item) return [];
      const { runId: id } = runIdsOf(item, { ...source, format: 'otlp' });
      if (seen.has(id)) return [];
      seen.add(id);
      return [runOfCall(item, { ...source, format: 'otlp', seen: seenInTraces })];
    });
    return { runs, leftOut: items.filter((item) => 'leftOut' in item).length };
  },
};

export type LogMethods = typeof methods;

serveCalls(methods);
