import { Readable } from 'node:stream';

const mediaTypes: Readonly<Record<string, string>> = {
  zip: 'application/zip',
  html: 'text/html; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** A name with other letters is given twice: programs that do not read the second form get the first one. */
function disposition(fileName: string): string {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  if (plain === fileName) return `attachment; filename="${fileName}"`;
  const encoded = encodeURIComponent(fileName.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** Sends a file to be saved. What stands in it is other people's text: a browser may not run it as a page of ours. */
export function fileAnswer(file: { fileName: string; bytes: number | null; stream: Readable }): Response {
  const extension = file.fileName.split('.').at(-1) ?? '';
  return new Response(Readable.toWeb(file.stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': mediaTypes[extension] ?? 'application/octet-stream',
      'content-disposition': disposition(file.fileName),
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      ...(file.bytes === null ? {} : { 'content-length': String(file.bytes) }),
    },
  });
}
