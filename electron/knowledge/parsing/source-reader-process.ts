/**
 * Entry point of the process that reads files for dataspaces; started by `source-reader.ts`. It exits when its parent does, even if
 * that crashes.
 */
import { constants, setPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../../shared/app-error.ts';
import { connectToParent } from '../../child-process/parent-connection.ts';
import { type CallContext, serveCalls } from '../../common/worker-server.ts';
import { workerUrl } from '../../common/worker-url.ts';
import { SourceFailure, type SourceMediaType } from './parsed-source.ts';
import { type PackedDocument, packDocument, textParts } from './packed-document.ts';
import { type FileToInspect, type InspectedFile, inspectFile } from '../../files/inspect-file.ts';
import { type PagesToRender, type RenderedPage, renderPages } from '../../files/render-pages.ts';
import { readDocument } from './read-document.ts';

export interface ReadTask {
  readonly path: string;
  readonly mediaType: SourceMediaType;
}

/** The completed share, or the next part of the text. All parts come before the result. */
export type ReadProgress = { readonly fraction: number } | { readonly part: string };

/** More frequent reports would only cost time. */
const progressStep = 0.01;

/** Not 1: that is the exit code of a process that is killed on Windows. */
const failureExitCode = 70;

// The window must stay responsive.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
new Worker(workerUrl(import.meta.url, 'source-reader-watch'), {
  execArgv: [],
  workerData: { memoryMegabytes: Number(process.argv[2]), parentId: process.ppid },
}).unref();

/** Passes the reason for the user on. */
async function withReason<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof SourceFailure ? new AppError('invalid_request', error.message) : error;
  }
}

const methods = {
  /** Throws an `AppError` with a reason for the user; any other error is a bug or a damaged file. */
  async read({ path, mediaType }: ReadTask, { onProgress }: CallContext<ReadProgress>): Promise<PackedDocument> {
    let reported = 0;
    const report = (fraction: number) => {
      if (fraction < reported + progressStep) return;
      reported = fraction;
      onProgress({ fraction });
    };
    const document = await withReason(readDocument(path, mediaType, report));
    for (const part of textParts(document.text)) onProgress({ part });
    return packDocument(document);
  },

  /** Throws the same errors as `read`. */
  inspect: (file: FileToInspect): Promise<InspectedFile> => withReason(inspectFile(file)),

  /** Throws the same errors as `read`. */
  renderPages: (pages: PagesToRender): Promise<RenderedPage[]> => withReason(renderPages(pages)),
};

export type SourceReaderMethods = typeof methods;

serveCalls(methods, { port: { ...connectToParent(), close: () => process.exit() } });
process.on('uncaughtException', (error) => {
  process.stderr.write(error.stack ?? String(error));
  process.exit(failureExitCode);
});
