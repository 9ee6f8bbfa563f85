import { request as httpRequest, type IncomingMessage } from 'node:http';

/** Calls and responses as they are on the wire, for a comparison of two of them. */

interface RawResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: string[];
  readonly body: string;
}

/** A call without any library, and its response as it came. */
export function rawCall(address: string, headers: readonly string[], body: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(address, {
      method: 'POST',
      headers: [...headers],
      agent: false,
      maxHeaderSize: 131_072,
    });
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          statusText: response.statusMessage!,
          headers: response.rawHeaders,
          body: Buffer.concat(chunks).toString('latin1'),
        }),
      );
    });
    request.end(body);
  });
}

/** Names and values without those that differ by intention, and without those of the connection. */
export function comparableHeaders(rawHeaders: readonly string[], ignored: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    if (ignored.includes(name) || name.startsWith('x-touchstone-')) continue;
    pairs.push([name, rawHeaders[index + 1]!]);
  }
  return pairs.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Headers of the connection. */
export const ofConnection = ['connection', 'keep-alive', 'host', 'transfer-encoding'];
