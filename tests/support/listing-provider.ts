import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListingProvider extends AsyncDisposable {
  /** With the version in it, as `--provider-base` takes it. */
  readonly baseAddress: string;
  /** Keys that were shown to it, in order. */
  readonly keys: readonly string[];
}

/** Answers the question for the list of models in OpenAI's form, to those who bring the one good key. */
export async function startListingProvider(goodKey: string, models: readonly string[]): Promise<ListingProvider> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    const key = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    keys.push(key);
    const isGood = key === goodKey;
    const body = isGood
      ? { object: 'list', data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: 'test' })) }
      : { error: { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' } };
    response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseAddress: `http://127.0.0.1:${port}/v1`,
    keys,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
