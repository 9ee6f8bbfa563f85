import { createTurnQueue } from '../../on-device/turn-queue.ts';
import type { ParsedSource, ReadSourceOptions, SourceReader, SourceReaderOptions } from './parsed-source.ts';
import { damaged, startReadingProcess, unreadable, type ReadingProcess } from './reading-process.ts';
import { unpackDocument, type ReadAnswer, type ReadQuestion } from './source-reader-messages.ts';

/** The process holds its parsers and what is left of the last file meanwhile. */
const idleSeconds = 60;

const stopped = () => new DOMException('Reading was stopped.', 'AbortError');

/** Reads files one after the other in a process that starts with the first one and is replaced when one of them misbehaves. */
export function createSourceReader({
  deadlineSeconds = 120,
  memoryMegabytes = 1024,
}: SourceReaderOptions = {}): SourceReader {
  const closing = new AbortController();
  const turns = createTurnQueue(() => undefined);
  let reading: ReadingProcess | null = null;
  let idleTimer: NodeJS.Timeout | undefined;
  let lastId = 0;

  async function end(): Promise<void> {
    const ending = reading;
    reading = null;
    await ending?.end();
  }

  /** Settles with whatever comes first: the answer, the end of the process, the deadline or the signal. */
  async function ask(question: ReadQuestion, { signal, onProgress }: ReadSourceOptions): Promise<ParsedSource> {
    if (!reading?.isAlive) reading = startReadingProcess(memoryMegabytes);
    const asked = reading;
    const result = Promise.withResolvers<ParsedSource>();
    const parts: string[] = [];
    let mustEnd = false;
    const giveUp = (error: Error) => {
      mustEnd = true;
      result.reject(error);
    };
    const onAnswer = (answer: ReadAnswer) => {
      if (answer.id !== question.id) return;
      if (answer.type === 'progress') onProgress?.(answer.fraction);
      else if (answer.type === 'text') parts.push(answer.part);
      else if (answer.type === 'read') result.resolve(unpackDocument(parts.join(''), answer.document));
      else if (answer.type === 'failed') result.reject(unreadable(answer.reason));
      else giveUp(unreadable(damaged, new Error(answer.details)));
    };
    const onAbort = () => giveUp(stopped());
    const tooLong = `Reading the file took longer than ${deadlineSeconds} seconds. Split it into smaller files.`;
    const deadline = setTimeout(() => giveUp(unreadable(tooLong)), deadlineSeconds * 1000);
    signal.addEventListener('abort', onAbort, { once: true });
    asked.ask(question, { onAnswer, onEnd: giveUp });
    try {
      return await result.promise;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      asked.rest();
      if (mustEnd) await end();
    }
  }

  return {
    async readSource({ path, mediaType }, { signal, onProgress }) {
      const either = AbortSignal.any([signal, closing.signal]);
      const giveOn = await turns.take({ signal: either }).catch(() => {
        throw stopped();
      });
      clearTimeout(idleTimer);
      lastId += 1;
      try {
        return await ask({ id: lastId, path, mediaType }, { signal: either, ...(onProgress && { onProgress }) });
      } finally {
        if (!closing.signal.aborted) idleTimer = setTimeout(() => void end(), idleSeconds * 1000).unref();
        giveOn();
      }
    },
    async close() {
      closing.abort();
      clearTimeout(idleTimer);
      await end();
    },
  };
}
