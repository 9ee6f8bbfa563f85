import { Readable } from 'node:stream';
import { AppError } from '../../shared/app-error.ts';
import { createFile, maxFileBytes, readFile, readFileDetails, storeSourceFile } from '../../shared/contract/files.ts';
import type { OpenSource } from '../completions/load-files.ts';
import type { FileDownload, Files } from '../files/create-files.ts';
import type { FileReader } from '../storage/file-store.ts';
import { type Caller, type Handler, implement } from './api.ts';
import { JsonResponse } from './json-response.ts';

export function fileReaderOf({ callerId, scopes }: Pick<Caller, 'callerId' | 'scopes'>): FileReader {
  return { callerId, canReadAll: scopes.includes('audit') };
}

/** Sends a file as a download. A browser must not open a user's file as our page. */
function sendFile({ file, stream }: FileDownload): Response {
  const name = encodeURIComponent(file.name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': file.mediaType,
      'content-length': String(file.bytes),
      'content-disposition': `attachment; filename*=UTF-8''${name}`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    },
  });
}

/** The original of a source that a person chose. Throws `not_found`, and `payload_too_large` for more than 20 MB. */
function originalOf(sourceId: string, openSource: OpenSource) {
  const source = openSource(sourceId);
  if (!source) throw new AppError('not_found', 'No source has this ID. It may have been deleted.');
  if (source.bytes > maxFileBytes)
    throw new AppError('payload_too_large', `The source "${source.fileName}" is larger than 20 MB.`);
  return source;
}

export function fileHandlers(files: Files, openSource: OpenSource): Handler[] {
  return [
    implement(createFile, async ({ readForm, signal, caller }) => {
      await using received = await files.incoming();
      const { keepLocation } = await readForm((part) => received.receive(part));
      const options = { signal, callerId: caller.callerId, keepLocation: keepLocation === 'true' };
      const { file, isNew } = await received.store(options);
      return new JsonResponse(file, { status: isNew ? 201 : 200 });
    }),
    implement(storeSourceFile, async ({ body, signal, caller }) => {
      const source = originalOf(body.sourceId, openSource);
      await using received = await files.incoming();
      await received.receive(source);
      return (await received.store({ signal, callerId: caller.callerId, keepLocation: false })).file;
    }),
    implement(readFile, async ({ parameters, caller }) =>
      sendFile(await files.download(parameters.id, fileReaderOf(caller))),
    ),
    // A draft of the window shows the file, so it must stay.
    implement(readFileDetails, ({ parameters, caller }) => files.keep(parameters.id, fileReaderOf(caller))),
  ];
}
