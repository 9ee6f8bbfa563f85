import { AppError } from '../../../shared/app-error.ts';
import { childEnvironment, describeEnd, type ChildEnd, type StartChild } from '../../child-process/child.ts';
import type { WorkerConnection } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';

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
export function startReadingProcess(startChild: StartChild, memoryMegabytes: number): WorkerConnection {
  const child = startChild({
    program: workerUrl(import.meta.url, 'source-reader-process'),
    parameters: [String(memoryMegabytes)],
    heapMegabytes: Math.round(memoryMegabytes * heapShare),
    environment: childEnvironment(),
  });
  child.setHoldsHost(false);
  const ended = Promise.withResolvers<Error>();
  child.onEnd((end) => {
    const cause = new Error(`The process that reads files ended (${describeEnd(end)}). ${child.errorOutput}`);
    ended.resolve(failureFor(end, memoryMegabytes, cause));
  });
  return {
    send: child.send,
    onMessage: child.onMessage,
    ended: ended.promise,
    setHoldsHost: child.setHoldsHost,
    kill: child.kill,
  };
}
