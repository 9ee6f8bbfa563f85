import { describe, expect, it } from 'vitest';
import { ResponseTooLarge, type SizeLimits } from '../../../electron/providers/response-receiver.ts';
import { createProviderFetch } from '../../../electron/providers/provider-fetch.ts';
import { moderateAtProvider } from '../../../electron/providers/provider-moderation.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { failureOf, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';
import type { ScriptedCall } from '../../support/scripted-provider.ts';

const world = useProviderConnection();
const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

function openTransport(sizeLimits: SizeLimits) {
  return createProviderFetch({
    timeLimits: () => ({ firstByteSeconds: 60, betweenBytesSeconds: 60 }),
    environment: {},
    sizeLimits,
  });
}

/** Sends the same bytes until the other end closes. */
async function sendForever(call: ScriptedCall, mediaType: string, bytes: string): Promise<void> {
  call.head(200, { 'content-type': mediaType });
  let isOpen = true;
  void call.closed.then(() => (isOpen = false));
  while (isOpen) await Promise.race([call.write(bytes), call.closed]);
}

describe('a response that never ends', () => {
  it.for([
    ['a stream of short lines', 'data: {}\n\n'.repeat(1000)],
    ['a stream that is one line', 'a'.repeat(10 * kilobyte)],
  ])('%s is stopped at its limit', async ([, bytes]) => {
    world.server.answerWith((call) => sendForever(call, 'text/event-stream', bytes!));
    const transport = openTransport({ wholeBytes: megabyte, streamBytes: 2 * megabyte });
    const response = await transport.fetch(`${world.server.baseAddress}/chat/completions`, { method: 'POST' });
    const failure: unknown = await response.text().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ResponseTooLarge);
    await world.server.calls[0]!.closed;
    await transport.close();
  });

  it('as a list of models ends with a clear error and closes the connection', async () => {
    world.server.answerWith((call) => sendForever(call, 'application/json', ' '.repeat(megabyte)));
    const provider = createEndpointProvider({
      title: 'Local',
      baseAddress: world.server.baseAddress,
      key: null,
      transport: world.openTransport(),
    });
    const failure = await failureOf(provider.listModels({ signal: noAbort() }));
    expect(failure).toMatchObject({
      code: 'provider_failed',
      message: expect.stringContaining('"Local" sent more than 16 MB, so Touchstone stopped reading.') as string,
    });
    await world.server.calls[0]!.closed;
  });

  it('as a verdict of a classifier ends with a clear error and closes the connection', async () => {
    world.server.answerWith((call) => sendForever(call, 'application/json', ' '.repeat(64 * kilobyte)));
    const transport = openTransport({ wholeBytes: megabyte, streamBytes: 2 * megabyte });
    const settings = { title: 'Local', baseAddress: world.server.baseAddress, key: null, transport };
    const request = { model: 'm', input: 'text' };
    const failure = await failureOf(moderateAtProvider(settings as never, request as never, noAbort()));
    expect(failure.message).toContain('"Local" sent more than 1 MB');
    await world.server.calls[0]!.closed;
    await transport.close();
  });
});

it('stops a list with endless small pages at its total size', async () => {
  let pages = 0;
  world.server.answerWith((call) => {
    pages += 1;
    call.json(200, { models: [], nextPageToken: `page-${pages}`, filler: 'a'.repeat(5 * megabyte) });
  });
  const baseAddress = world.server.baseAddress;
  const provider = registry.GoogleGemini.create({
    title: 'Google Gemini',
    baseAddress,
    key: 'k',
    transport: world.openTransport(),
  });
  const failure = await failureOf(provider.listModels({ signal: noAbort() }));
  expect(failure.message).toContain('so Touchstone stopped reading');
  expect(pages).toBe(4);
});
