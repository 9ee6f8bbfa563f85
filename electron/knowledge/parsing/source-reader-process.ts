/**
 * Entry point of the process that reads files for dataspaces; started by `source-reader.ts`. It ends when the connection to its
 * parent does, however the parent ended.
 */
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { connectToParent } from '../../child-process/parent-connection.ts';
import { workerUrl } from '../../common/worker-url.ts';
import { readDocument } from './read-document.ts';
import { SourceFailure } from './parsed-source.ts';
import { packDocument, textParts, type ReadAnswer, type ReadQuestion } from './source-reader-messages.ts';

/** More often would only cost time. */
const progressStep = 0.01;

/** Not 1, which on Windows is also that of a process that was ended from outside. */
const failureExitCode = 70;

// Who works with the window comes first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
new Worker(workerUrl(import.meta.url, 'source-reader-watch'), {
  execArgv: [],
  workerData: { memoryMegabytes: Number(process.argv[2]), parentId: process.ppid },
}).unref();

const { send: answer, onMessage } = connectToParent<ReadQuestion, ReadAnswer>();

async function read({ id, path, mediaType }: ReadQuestion): Promise<void> {
  let reported = 0;
  const report = (fraction: number) => {
    if (fraction < reported + progressStep) return;
    reported = fraction;
    answer({ type: 'progress', id, fraction });
  };
  try {
    const document = await readDocument(path, mediaType, report);
    for (const part of textParts(document.text)) answer({ type: 'text', id, part });
    answer({ type: 'read', id, document: packDocument(document) });
  } catch (error) {
    if (error instanceof SourceFailure) return answer({ type: 'failed', id, reason: error.message });
    answer({ type: 'broken', id, details: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

onMessage((question) => void read(question));
process.on('uncaughtException', (error) => {
  process.stderr.write(error.stack ?? String(error));
  process.exit(failureExitCode);
});
