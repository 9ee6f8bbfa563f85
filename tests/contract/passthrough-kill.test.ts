// @module-tag slow
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../electron/storage/open-storage.ts';
import { read, startHost } from '../support/running-host.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';

const clients = 64;
const endedBefore = 200;

interface Ended {
  readonly runId: string;
  readonly content: string;
}

/** One call. Resolves at its end; null if the connection broke. */
function call(address: string, key: string, content: string, agent: Agent, isStream: boolean): Promise<Ended | null> {
  return new Promise((resolve) => {
    const body = JSON.stringify({ model: 'scripted', stream: isStream, messages: [{ role: 'user', content }] });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(`${address}/openai/scripted/v1/chat/completions`, { method: 'POST', agent, headers });
    outgoing.on('error', () => resolve(null));
    outgoing.on('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        // Libraries take this event for the end of the response.
        if (isStream && text.includes('[DONE]'))
          resolve({ runId: String(response.headers['x-touchstone-run-id']), content });
      });
      response.on('end', () => resolve({ runId: String(response.headers['x-touchstone-run-id']), content }));
      response.on('error', () => resolve(null));
      response.on('close', () => resolve(null));
    });
    outgoing.end(body);
  });
}

test('however a host is killed while 64 programs call, every call whose response ended is in the audit', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'touchstone-calls-'));
  await using provider = await startScriptedProvider(async (received) => {
    const { content } = (received.body['messages'] as { content: string }[])[0]!;
    if (received.body['stream'] === true) await received.chatStream([`Answer to `, content, '.']);
    else received.chatAnswer({ content: `Answer to ${content}.` });
  });
  try {
    const ended: Ended[] = [];
    for (let kill = 0; kill < 3; kill += 1) {
      const host = await startHost(directory, ['--endpoint', `scripted=${provider.baseAddress}`]);
      const { serverAddress } = await read<{ serverAddress: string }>(host, '/window/host');
      const { key } = await read<{ key: string }>(host, '/window/api-keys', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'programs' }),
      });
      const agent = new Agent({ keepAlive: true });
      const exited = once(host.child, 'exit');
      let count = 0;
      const loop = async (client: number) => {
        for (let round = 0; ; round += 1) {
          const question = `question ${kill}-${client}-${round}`;
          const response = await call(serverAddress, key, question, agent, client % 2 === 0);
          if (response === null) return;
          ended.push(response);
          count += 1;
          if (count === endedBefore) host.child.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
      await exited;
      agent.destroy();
    }
    expect(ended.length).toBeGreaterThanOrEqual(3 * endedBefore);
    const storage = openStorage({ directory });
    const lost = ended.filter(({ runId, content }) => {
      const run = storage.runs.read(runId);
      return run?.status !== 'Completed' || run.output.content !== `Answer to ${content}.`;
    });
    await storage.close();
    expect(lost).toEqual([]);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  }
});
