// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../support/patience.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

/** One word, which the index of the audit would have as it is. */
const storedKey = 'skstoredproviderkey0123456789';
const [start, end] = [storedKey.slice(0, 9), storedKey.slice(9)];

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  const { keyStore, provider } = host;
  keyStore.write('endpoint:scripted', storedKey);
  keyStore.write('endpoint:scripted origin', new URL(provider.baseAddress).origin);
  const route = { kind: 'provider' as const, aiSystem: 'OpenAiCompatible' as const, model: 'scripted/model' };
  host.host.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
});
afterAll(() => host.close());

const messages = [{ role: 'user', content: 'What did I send?' }];
const passed = { path: '/openai/scripted/v1/chat/completions', body: { model: 'model', messages } };
const translated = { path: '/openai/v1/chat/completions', body: { model: 'service/hl-gpt-4o-mini', messages } };
const completion = { aiSystem: 'OpenAiCompatible', model: 'scripted/model', promptText: 'What did I send?' };

/** Makes a call whose provider gives `answer`. Returns what its program got and what is recorded. */
async function record(path: string, body: object, answer: (call: ScriptedCall) => unknown) {
  host.provider.answerWith((call) => {
    expect(call.headers.authorization).toBe(`Bearer ${storedKey}`);
    return answer(call);
  });
  const { headers, text } = await host.send('HTTP/1.1', {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${host.key}` },
    body: JSON.stringify(body),
  });
  const { runs } = host.host.storage;
  const runId = String(headers['x-touchstone-run-id'] ?? headers['x-run-id']);
  await expect.poll(() => runs.read(runId)?.status, patience).not.toBe('Running');
  return { text, run: runs.read(runId)! };
}

/** An answer whose JSON escapes every character of the key. */
function escapedAnswer(call: ScriptedCall): void {
  const escaped = [...storedKey].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('');
  const choice = `{"index":0,"message":{"role":"assistant","content":"Key ${escaped}!"},"finish_reason":"stop"}`;
  call.head(200, { 'content-type': 'application/json' }).end(`{"id":"chat_1","choices":[${choice}]}`);
}

/** A stream whose first event arrives in two chunks that are cut within the key. */
async function cutStream(call: ScriptedCall): Promise<void> {
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: `Key ${storedKey}!` } }] })}\n\n`;
  const middle = event.indexOf(end);
  call.openEventStream();
  await call.write(event.slice(0, middle));
  await call.write(event.slice(middle));
  await call.chatEnd();
}

const asStream = { stream: true };

describe('the record of a call has no stored key that its provider repeats', () => {
  test.each<[string, object, (call: ScriptedCall) => unknown]>([
    ['in an answer', {}, (call) => call.chatAnswer({ content: `Key ${storedKey}!` })],
    ['in an answer of escaped characters', {}, escapedAnswer],
    ['in a stream', asStream, (call) => call.chatStream([`Key ${storedKey}!`])],
    ['in two chunks of a stream', asStream, cutStream],
    ['in two events of a stream', asStream, (call) => call.chatStream([`Key ${start}`, `${end}!`])],
  ])('%s, which its program gets whole', async (_, options, answer) => {
    const { text, run } = await record(passed.path, { ...passed.body, ...options }, answer);
    expect(text).toContain('Key ');
    expect(run).toMatchObject({ status: 'Completed', output: { content: 'Key [redacted]!' } });
  });

  test.each<[string, (call: ScriptedCall) => unknown, string]>([
    [
      'a message',
      (call) => call.fail(401, `Incorrect API key provided: ${storedKey}.`),
      'Incorrect API key provided: [redacted].',
    ],
    ['a text', (call) => call.head(500).end(`No key ${storedKey} here`), 'No key [redacted] here'],
    [
      'a status',
      (call) => call.socket.end(`HTTP/1.1 401 No ${storedKey}\r\nContent-Length: 0\r\n\r\n`),
      '401 No [redacted]',
    ],
  ])('in %s of an error', async (_, answer, message) => {
    const { run } = await record(passed.path, passed.body, answer);
    expect(run).toMatchObject({ status: 'Failed', output: { error: { message } } });
  });

  test.each<[string, string, object]>([
    ['a completion', '/api/completions', completion],
    ['a streamed completion', '/api/completions/sse', completion],
    ["a call of one of Touchstone's models", translated.path, translated.body],
    ["a streamed call of one of Touchstone's models", translated.path, { ...translated.body, stream: true }],
  ])('in the answer of %s', async (_, path, body) => {
    const { run } = await record(path, body, (call) =>
      call.body['stream'] === true
        ? call.chatStream([`Key ${start}`, `${end}!`])
        : call.chatAnswer({ content: `Key ${storedKey}!`, reasoning: `It is ${storedKey}.` }),
    );
    expect(run).toMatchObject({ status: 'Completed', output: { content: 'Key [redacted]!' } });
    expect(JSON.stringify(run)).not.toContain(storedKey);
  });

  test('in an error or a call of a tool of a completion', async () => {
    const failed = await record('/api/completions/sse', completion, (call) => call.fail(400, `No key ${storedKey}`));
    expect(failed.run.status).toBe('Failed');
    const call = { id: 'call_1', name: 'look', arguments: JSON.stringify({ key: storedKey }) };
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    const called = await record('/api/completions/sse', { ...completion, configuration: { tools } }, (received) =>
      received.chatCalls([call]),
    );
    expect(called.run.output.toolCalls).toMatchObject([{ name: 'look', arguments: '{"key":"[redacted]"}' }]);
  });

  test('in any file of the data folder', async () => {
    await host.host.close();
    const files = readdirSync(host.dataDirectory, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    expect(texts.some((text) => text.includes('Key [redacted]!'))).toBe(true);
    expect(files.filter((_, index) => texts[index]!.includes(storedKey)).map(({ name }) => name)).toEqual([]);
  });
});
