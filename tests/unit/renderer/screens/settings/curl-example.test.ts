import { describe, expect, test } from 'vitest';
import { curlExample } from '../../../../../renderer/screens/settings/local-server-page.tsx';
import { completionRequest } from '../../../../../shared/contract/completions.ts';

describe('the example call', () => {
  test.each(['sync', 'sse', 'stream'] as const)('over %s has a body that the contract takes', (transport) => {
    const body = /-d '(.*)'$/.exec(curlExample('http://127.0.0.1:4117', transport))?.[1] ?? '';
    expect(completionRequest.safeParse(JSON.parse(body)).success).toBe(true);
  });

  test('uses HTTP/2 for a JSON array, and trusts our certificate only if there is one', () => {
    const flags = (address: string, transport: 'sync' | 'stream') =>
      ['--http2-prior-knowledge', '--http2 ', '--insecure'].filter((flag) =>
        curlExample(address, transport).includes(flag),
      );
    expect(flags('http://127.0.0.1:4117', 'sync')).toEqual([]);
    expect(flags('http://127.0.0.1:4117', 'stream')).toEqual(['--http2-prior-knowledge']);
    expect(flags('https://127.0.0.1:4117', 'stream')).toEqual(['--http2 ', '--insecure']);
  });
});
