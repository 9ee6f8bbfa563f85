import { AppError } from '../../../shared/app-error.ts';
import { childEnvironment, describeEnd, type ChildEnd, type StartChild } from '../../child-process/child.ts';
import { workerUrl } from '../../common/worker-url.ts';
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

export function unreadable(reason: string, cause?: unknown): AppError {
  return new AppError('invalid_request', reason, { cause });
}

/** This part of the memory is V8's heap, the rest for what lies outside: bytes of files, and V8 itself. */
const heapShare = 0.6;

/** Said of what nobody foresaw: a parser that failed at something, or ended its process. */
export const damaged = 'The file is damaged and cannot be read.';

/** Whether V8 or the watch ended the process; on Windows there are no signals, and the watch's end is exit code 1. */
function endedByMemory({ code, signal }: ChildEnd): boolean {
  const byV8 = code === 134 || ['SIGABRT', 'SIGTRAP', 'SIGILL'].includes(signal ?? '');
  return byV8 || signal === 'SIGKILL' || (process.platform === 'win32' && code === 1);
}

function failureFor(end: ChildEnd, memoryMegabytes: number, cause: Error): AppError {
  if (end.error)
    return unreadable(
      'The process that reads files could not start. Close other programs and re-index the source.',
      cause,
    );
  if (!endedByMemory(end)) return unreadable(damaged, cause);
  return unreadable(
    `Reading the file needs more than ${memoryMegabytes} MB of memory. Split it into smaller files.`,
    cause,
  );
}

/**
 * Starts the process. It is one of its own, as a thread that runs out of memory within a single call of V8 (a list of ten million
 * entries in a JSON file) takes its whole process with it.
 */
export function startReadingProcess(startChild: StartChild, memoryMegabytes: number): ReadingProcess {
  const child = startChild({
    program: workerUrl(import.meta.url, 'source-reader-process'),
    parameters: [String(memoryMegabytes)],
    heapMegabytes: Math.round(memoryMegabytes * heapShare),
    environment: childEnvironment(),
  });
  const ended = Promise.withResolvers<void>();
  let handlers: ReadingHandlers | null = null;
  let isAlive = true;

  child.onMessage((answer) => handlers?.onAnswer(answer as ReadAnswer));
  child.onEnd((end) => {
    isAlive = false;
    const cause = new Error(`The process that reads files ended (${describeEnd(end)}). ${child.errorOutput}`);
    handlers?.onEnd(failureFor(end, memoryMegabytes, cause));
    ended.resolve();
  });

  return {
    get isAlive() {
      return isAlive;
    },
    ask(question, given) {
      handlers = given;
      child.setHoldsHost(true);
      child.send(question);
    },
    rest() {
      handlers = null;
      child.setHoldsHost(false);
    },
    async end() {
      isAlive = false;
      child.setHoldsHost(true);
      child.kill();
      await ended.promise;
    },
  };
}
