import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../../shared/app-error.ts';
import { siblingModule } from '../../sibling-module.ts';
import type { ReadAnswer, ReadQuestion } from './source-reader-messages.ts';

/** A process that reads one file after the other. */
export interface ReadingProcess {
  /** False as soon as it has ended or is about to. */
  readonly isAlive: boolean;
  /** Sends a question; what comes back goes to `onAnswer`, and the end of the process, with its reason, to `onEnd`. */
  ask(question: ReadQuestion, handlers: ReadingHandlers): void;
  /** Nobody waits for an answer any more: the process no longer holds the host open. */
  rest(): void;
  /** Ends the process at once, whatever it is doing. */
  end(): Promise<void>;
}

export interface ReadingHandlers {
  readonly onAnswer: (answer: ReadAnswer) => void;
  readonly onEnd: (reason: AppError) => void;
}

/** Characters of the process's error output that are kept for the log. */
const errorOutputCharacters = 4000;

/** What the process needs of its surroundings; keys of providers may be among them, and hostile files are read in it. */
const neededVariables = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR', 'LD_LIBRARY_PATH'];

function environment(): NodeJS.ProcessEnv {
  const needed = neededVariables.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  // Electron's executable is a plain Node only when it is told so.
  const asNode = process.versions['electron'] ? { ELECTRON_RUN_AS_NODE: '1' } : {};
  return { ...Object.fromEntries(needed), ...asNode };
}

export function unreadable(reason: string, cause?: unknown): AppError {
  return new AppError('invalid_request', reason, { cause });
}

/** This part of the memory is V8's heap, the rest for what lies outside: bytes of files, and V8 itself. */
const heapShare = 0.6;

/** Said of what nobody foresaw: a parser that failed at something, or ended its process. */
export const damaged = 'The file is damaged and cannot be read.';

/** Whether V8 or the watch ended the process; on Windows there are no signals, and the watch's end is exit code 1. */
function endedByMemory(code: number | null, signal: string | null): boolean {
  const byV8 = code === 134 || ['SIGABRT', 'SIGTRAP', 'SIGILL'].includes(signal ?? '');
  return byV8 || signal === 'SIGKILL' || (process.platform === 'win32' && code === 1);
}

function forkProcess(memoryMegabytes: number): ChildProcess {
  return fork(fileURLToPath(siblingModule(import.meta.url, 'source-reader-process')), [String(memoryMegabytes)], {
    serialization: 'advanced',
    // A debugger's or test runner's own options are not for this process.
    execArgv: [`--max-old-space-size=${Math.round(memoryMegabytes * heapShare)}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: environment(),
  });
}

/**
 * Starts the process. It is one of its own, as a thread that runs out of memory within a single call of V8 (a list of ten million
 * entries in a JSON file) takes its whole process with it.
 */
export function startReadingProcess(memoryMegabytes: number): ReadingProcess {
  const child = forkProcess(memoryMegabytes);
  const ended = Promise.withResolvers<void>();
  let handlers: ReadingHandlers | null = null;
  let errorOutput = '';
  let isAlive = true;

  function onEnd(reason: (cause: Error) => AppError, how: string): void {
    isAlive = false;
    handlers?.onEnd(reason(new Error(`The process that reads files ended (${how}). ${errorOutput}`)));
    ended.resolve();
  }

  const reasonOfExit = (code: number | null, signal: string | null) => (cause: Error) =>
    endedByMemory(code, signal)
      ? unreadable(
          `Reading the file needs more than ${memoryMegabytes} MB of memory. Split it into smaller files.`,
          cause,
        )
      : unreadable(damaged, cause);
  const notStarted = (cause: Error) =>
    unreadable('The process that reads files could not start. Close other programs and re-index the source.', cause);

  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-errorOutputCharacters);
  });
  child.on('message', (answer: ReadAnswer) => handlers?.onAnswer(answer));
  child.once('error', (error) => onEnd(notStarted, error.message));
  child.once('exit', (code, signal) => onEnd(reasonOfExit(code, signal), signal ?? `exit code ${code}`));

  return {
    get isAlive() {
      return isAlive;
    },
    ask(question, given) {
      handlers = given;
      child.ref();
      child.channel?.ref();
      // A process that has just ended takes no question; its `exit` event tells.
      if (child.connected) child.send(question, () => {});
    },
    rest() {
      handlers = null;
      child.unref();
      child.channel?.unref();
      (child.stderr as { unref?: () => void } | null)?.unref?.();
    },
    async end() {
      isAlive = false;
      child.ref();
      child.kill('SIGKILL');
      await ended.promise;
    },
  };
}
