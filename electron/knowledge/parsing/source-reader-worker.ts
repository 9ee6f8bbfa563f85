/** Entry point of the thread that reads files for dataspaces; started by `source-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { readDocument } from './read-document.ts';
import { SourceFailure } from './source-failure.ts';
import { packDocument, type ReadAnswer, type ReadQuestion } from './source-reader-messages.ts';

const port = parentPort!;

/** More often would only cost time. */
const progressStep = 0.01;

function answer(message: ReadAnswer, transferred: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferred);
}

async function read({ id, path, mediaType }: ReadQuestion): Promise<void> {
  let reported = 0;
  const report = (fraction: number) => {
    if (fraction < reported + progressStep) return;
    reported = fraction;
    answer({ type: 'progress', id, fraction });
  };
  try {
    const document = packDocument(await readDocument(path, mediaType, report));
    answer({ type: 'read', id, document }, [document.passages.buffer]);
  } catch (error) {
    if (error instanceof SourceFailure) return answer({ type: 'failed', id, reason: error.message });
    answer({ type: 'broken', id, details: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

port.on('message', (question: ReadQuestion) => void read(question));
