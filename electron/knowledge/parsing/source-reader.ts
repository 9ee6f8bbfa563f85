import { forkChild } from '../../child-process/fork-child.ts';
import { createMutex } from '../../common/mutex.ts';
import type { ParsedSource, ReadSourceOptions, SourceReader, SourceReaderOptions } from './parsed-source.ts';
import { damaged, startReadingProcess, unreadable, type ReadingProcess } from './reading-process.ts';
import { unpackDocument, type ReadAnswer, type ReadQuestion } from './source-reader-messages.ts';

/** An idle process ends after this: until then it holds its parsers and what is left of the last file. */
const idleSeconds = 60;

/** As many as the indexing queue has lanes, so that one slow file leaves a process for the others. */
const maxProcesses = 2;

const stopped = () => new DOMException('Reading was stopped.', 'AbortError');

interface Slot {
  isBusy: boolean;
  reading: ReadingProcess | null;
  idleTimer: NodeJS.Timeout | undefined;
}

async function endProcess(slot: Slot): Promise<void> {
  clearTimeout(slot.idleTimer);
  const { reading } = slot;
  slot.reading = null;
  await reading?.end();
}

/** Reads files in processes that start with the first file and are replaced when one of them misbehaves. */
export function createSourceReader({
  deadlineSeconds = 120,
  memoryMegabytes = 1024,
  startChild = forkChild,
}: SourceReaderOptions = {}): SourceReader {
  const closing = new AbortController();
  const queue = createMutex(() => undefined, { concurrency: maxProcesses });
  const slots = Array.from({ length: maxProcesses }, (): Slot => ({
    isBusy: false,
    reading: null,
    idleTimer: undefined,
  }));
  let lastId = 0;

  /** A free slot, preferably one whose process is running. */
  function takeSlot(): Slot {
    const free = slots.filter(({ isBusy }) => !isBusy);
    const slot = free.find(({ reading }) => reading?.isAlive) ?? free[0]!;
    slot.isBusy = true;
    clearTimeout(slot.idleTimer);
    return slot;
  }

  function releaseSlot(slot: Slot): void {
    slot.isBusy = false;
    if (!closing.signal.aborted) slot.idleTimer = setTimeout(() => void endProcess(slot), idleSeconds * 1000).unref();
  }

  /** Settles with the response, the end of the process, the deadline or the signal, whichever comes first. */
  async function read(
    slot: Slot,
    question: ReadQuestion,
    { signal, onProgress }: ReadSourceOptions,
  ): Promise<ParsedSource> {
    if (!slot.reading?.isAlive) slot.reading = startReadingProcess(startChild, memoryMegabytes);
    const reading = slot.reading;
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
    reading.ask(question, { onAnswer, onEnd: giveUp });
    try {
      return await result.promise;
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      reading.rest();
      if (mustEnd) await endProcess(slot);
    }
  }

  return {
    async readSource({ path, mediaType }, { signal, onProgress }) {
      const either = AbortSignal.any([signal, closing.signal]);
      const release = await queue.take({ signal: either }).catch(() => {
        throw stopped();
      });
      const slot = takeSlot();
      lastId += 1;
      try {
        const question = { id: lastId, path, mediaType };
        return await read(slot, question, { signal: either, ...(onProgress && { onProgress }) });
      } finally {
        releaseSlot(slot);
        release();
      }
    },
    async close() {
      closing.abort();
      await Promise.all(slots.map(endProcess));
    },
  };
}
