import type { Readable } from 'node:stream';
import type { Source } from '../../shared/contract/dataspaces.ts';
import type { CallerRequest } from './http-clients.ts';
import { callJson, type JsonResponse } from './json-call.ts';
import type { TestHost, Way } from './test-host.ts';

const boundary = 'between-the-parts';

/** The parts of a form in the order in which they are sent; the file is the one with a file name. */
export interface UploadPart {
  readonly name: string;
  readonly content: string | Buffer;
  readonly fileName?: string;
  readonly mediaType?: string;
}

function headOf({ name, fileName, mediaType }: UploadPart): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`;
  const type = mediaType === undefined ? '' : `\r\ncontent-type: ${mediaType}`;
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}${type}\r\n\r\n`;
}

/** A form as bytes. */
export function formOf(parts: readonly UploadPart[]): Buffer {
  const pieces = parts.flatMap((part) => [Buffer.from(headOf(part)), Buffer.from(part.content), Buffer.from('\r\n')]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

/** The beginning of a form of which the last part goes on. */
export function openFormOf(parts: readonly UploadPart[]): Buffer {
  return formOf(parts).subarray(0, -`\r\n--${boundary}--\r\n`.length);
}

export function uploadRequest(
  host: Pick<TestHost, 'key'>,
  body: Buffer | Readable,
  headers: Record<string, string> = {},
): CallerRequest {
  return {
    method: 'POST',
    path: '/sources',
    headers: {
      authorization: `Bearer ${host.key}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...headers,
    },
    body,
  };
}

export async function upload(host: TestHost, way: Way, parts: readonly UploadPart[]): Promise<JsonResponse> {
  const answer = await host.send(way, uploadRequest(host, formOf(parts)));
  return { ...answer, body: JSON.parse(answer.text) };
}

/** Adds a text file and answers the source. */
export async function addSource(
  host: TestHost,
  way: Way,
  text: string,
  fields: { name?: string; dataspaceId?: string } = {},
) {
  const { status, body } = await upload(host, way, [
    { name: 'name', content: fields.name ?? 'A source' },
    ...(fields.dataspaceId ? [{ name: 'dataspaceId', content: fields.dataspaceId }] : []),
    { name: 'file', content: text, fileName: 'source.txt' },
  ]);
  if (status !== 201) throw new Error(`The source was refused: ${JSON.stringify(body)}`);
  return body as Source;
}

/** Resolves with the source once it is no longer `Processing`. */
export async function settledSource(host: TestHost, way: Way, id: string): Promise<Source> {
  for (;;) {
    const { body } = await callJson(host, way, 'GET', `/sources/${id}`);
    if (body.status !== 'Processing') return body as Source;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
