import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { ProgramCall } from '../../../electron/passthrough/begin-run.ts';
import { createPassThrough, type PassThroughOptions } from '../../../electron/passthrough/create-passthrough.ts';
import type { ResponseReceiver } from '../../../electron/providers/response-receiver.ts';
import { patience } from '../../support/patience.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { Storage } from '../../../electron/storage/storage.ts';

const flow = { resume: () => undefined, cancel: () => undefined };
const answer = JSON.stringify({ choices: [{ message: { content: 'Blue.' }, finish_reason: 'stop' }] });

/** A recorder with real storage, and what happened in turn: `sent` to the provider, and `recorded`. */
function openRecorder(storage: Storage, secrets: readonly string[] = []) {
  const steps: string[] = [];
  let receiver: ResponseReceiver | null = null;
  let signal: AbortSignal | null = null;
  const begin = storage.runs.begin;
  vi.spyOn(storage.runs, 'begin').mockImplementation((run) => {
    steps.push('recorded');
    begin(run);
  });
  const recorder = createPassThrough({
    storage,
    providers: {
      pass: (call: Pick<ProgramCall, 'signal'>, given: ResponseReceiver) => {
        steps.push('sent');
        receiver = given;
        signal = call.signal;
        return secrets;
      },
      pricesOf: () => null,
    },
    pauses: { noteResponse: () => undefined },
    credits: { reserve: async () => ({ release: () => undefined }) },
    rateLimits: { reserveTokens: () => ({ correct: (used: number) => void steps.push(`used ${used}`) }) },
    apiKeys: storage.apiKeys,
    exchanges: { open: () => ({ readRequests: () => undefined, store: () => void steps.push('exchange stored') }) },
    log: () => undefined,
  } as unknown as PassThroughOptions);
  return { recorder, steps, receiver: () => receiver!, signal: () => signal! };
}

function callWith(content: string): ProgramCall {
  return {
    providerId: 'OpenAi',
    api: 'openai-chat',
    pathModel: null,
    apiVersion: null,
    path: '/chat/completions',
    method: 'POST',
    headers: [],
    body: Buffer.from(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })),
    encoding: '',
    hasOwnKey: false,
    caller: { callerId: randomUUID(), key: null },
    program: { client: 'program/1.0', appHeaders: {} },
    level: 'all',
    isRetry: false,
    signal: new AbortController().signal,
  } as ProgramCall;
}

const storages: Storage[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(storages.splice(0).map((storage) => storage.close()));
});

function open(secrets: readonly string[] = []) {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-recorder-'));
  const storage = openStorage({ directory });
  storages.push(storage);
  return { directory, storage, ...openRecorder(storage, secrets) };
}

test('a call is sent before it is recorded', async () => {
  const { recorder, steps } = open();
  await recorder.start(callWith('Which colour is the sky?'));
  expect(steps).toEqual(['sent', 'recorded']);
});

test('a call that must be recorded is recorded before it is sent', async () => {
  const { storage, recorder, steps } = open();
  const settings = storage.settings.read();
  storage.settings.update({ recorder: { ...settings.recorder, onFailure: 'block' } });
  await recorder.start(callWith('Which colour is the sky?'));
  expect(steps).toEqual(['recorded', 'sent']);
});

test('a response that comes while a long request is read waits for the record', async () => {
  const { storage, recorder, steps, receiver } = open();
  const starting = recorder.start(callWith('Which colour is the sky? '.repeat(10_000)));
  await vi.waitUntil(() => steps.includes('sent'), patience);
  receiver().begin(200, 'OK', { 'content-type': 'application/json' }, flow, []);
  expect(receiver().take(Buffer.from(answer))).toBe(false);
  receiver().end();
  expect(steps).toEqual(['sent']);
  const { call, runId } = await starting;
  let text = '';
  call.connect({
    write: (chunk) => (text += Buffer.from(chunk).toString()) !== '',
    end: () => undefined,
    fail: () => undefined,
    reject: () => undefined,
  });
  await call.whole;
  expect(text).toBe(answer);
  expect(storage.runs.read(runId!)).toMatchObject({ status: 'Completed', output: { content: 'Blue.' } });
  await recorder.close();
});

/** Ends a call with the answer, and returns what its program has before the next turn. */
async function answerAtOnce({ recorder, receiver }: ReturnType<typeof open>, call: ProgramCall, body = answer) {
  const { call: passed, runId } = await recorder.start(call);
  let received = '';
  passed.connect({
    write: (chunk) => (received += Buffer.from(chunk).toString()) !== '',
    end: () => void (received += ' (end)'),
    fail: () => undefined,
    reject: () => undefined,
  });
  receiver().begin(200, 'OK', { 'content-type': 'application/json' }, flow, []);
  receiver().take(Buffer.from(body));
  receiver().end();
  return { passed, runId: runId!, received };
}

const journalOf = (directory: string) => readFileSync(join(directory, 'touchstone.ended-runs'), 'latin1');

test('a program has the end of a response once the journal has it, before it is read', async () => {
  const opened = open();
  const { runId, received } = await answerAtOnce(opened, callWith('Which colour is the sky?'));
  expect(received).toBe(`${answer} (end)`);
  expect(journalOf(opened.directory)).toContain('Blue.');
  expect(opened.recorder.counts().recorded).toBe(0);
  expect(opened.storage.runs.read(runId)).toMatchObject({ status: 'Completed', output: { content: 'Blue.' } });
  expect(opened.recorder.counts().recorded).toBe(1);
});

test('what was used, the exchange and the conversation are noted while the next call waits for its provider', async () => {
  const opened = open();
  const call = callWith('Which colour is the sky?');
  const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
  const { runId } = await answerAtOnce(opened, call, JSON.stringify({ ...JSON.parse(answer), usage }));
  await nextTurn();
  expect(opened.steps).toEqual(['sent', 'recorded']);
  const other = await answerAtOnce(opened, { ...call }, answer.replace('Blue', 'Grey'));
  expect(opened.steps).toEqual(['sent', 'recorded', 'sent', 'used 14', 'exchange stored', 'recorded']);

  const messages = ['Which colour is the sky?', 'Blue.', 'And at night?'].map((content, index) => ({
    role: index === 1 ? 'assistant' : 'user',
    content,
  }));
  const next = { ...call, body: Buffer.from(JSON.stringify({ model: 'gpt-4o', messages })) };
  const { conversationId } = await opened.recorder.start(next);
  expect(conversationId).toBe(opened.storage.runs.read(runId)?.conversationId);
  expect(conversationId).not.toBe(opened.storage.runs.read(other.runId)?.conversationId);
});

test('a connection that breaks after all of a response changes nothing', async () => {
  const opened = open();
  const { call, runId } = await opened.recorder.start(callWith('Which colour is the sky?'));
  const sink = { write: () => true, end: () => undefined, fail: () => undefined, reject: () => undefined };
  call.connect(sink);
  const headers = { 'content-type': 'application/json', 'content-length': String(answer.length) };
  opened.receiver().begin(200, 'OK', headers, flow, []);
  opened.receiver().take(Buffer.from(answer));
  opened.receiver().fail(new Error('The connection broke.'));
  await call.whole.catch(() => undefined);
  expect(opened.recorder.counts().failed).toBe(0);
  expect(opened.storage.runs.read(runId!)?.status).toBe('Completed');
});

test('a host that closes ends the calls that wait for their provider', async () => {
  const { recorder, receiver, signal } = open();
  await recorder.start(callWith('Which colour is the sky?'));
  const closed = recorder.close();
  expect(signal().aborted).toBe(true);
  receiver().fail(signal().reason as Error);
  await closed;
});

test('a host that closes has read what ended in the same turn', async () => {
  const opened = open();
  const { runId } = await answerAtOnce(opened, callWith('Which colour is the sky?'));
  await opened.recorder.close();
  expect(opened.recorder.counts().recorded).toBe(1);
  expect(opened.storage.runs.read(runId)?.status).toBe('Completed');
});

const recorderSettings = [
  ['metadata only', { levels: 'metadata' }],
  ['rules of redaction', { redaction: [{ kind: 'pattern', name: 'colour', pattern: 'Blue' }] }],
  ['a recording that is required', { onFailure: 'block' }],
] as const;

test.each(recorderSettings)('a response waits until it is read, with %s', async (_, change) => {
  const opened = open();
  const { recorder } = opened.storage.settings.read();
  const levels = 'levels' in change ? { ...recorder.levels, 'openai-chat': change.levels } : recorder.levels;
  opened.storage.settings.update({ recorder: { ...recorder, ...change, levels } as never });
  const { passed, received } = await answerAtOnce(opened, callWith('Which colour is the sky?'));
  expect(received).not.toContain('(end)');
  await passed.whole;
  if (!('onFailure' in change)) expect(journalOf(opened.directory)).not.toContain('Blue.');
});

test.each([
  ['credits', { creditLimit: 5, tokensPerMinute: null }],
  ['tokens', { creditLimit: null, tokensPerMinute: 500 }],
  ['neither', { creditLimit: null, tokensPerMinute: null }],
])('what a call of a key with a limit of %s used is noted before its end', async (limit, key) => {
  const opened = open();
  const call = callWith('Which colour is the sky?');
  const caller = { ...call.caller, key: { id: 'key', ...key } };
  const { passed, received } = await answerAtOnce(opened, { ...call, caller } as ProgramCall);
  expect(received.includes('(end)')).toBe(limit === 'neither');
  await passed.whole;
  expect(opened.steps.includes('exchange stored')).toBe(limit !== 'neither');
});

const key = 'sk-stored/0123456789abcdef';

test.each([
  ['as it is', key],
  ['with an escaped slash', key.replace('/', '\\/')],
  ['in escaped characters', [...key].map((each) => `\\u00${each.charCodeAt(0).toString(16)}`).join('')],
])('the journal has no key that a provider repeats %s', async (_, repeated) => {
  const opened = open([key]);
  const call = callWith('Which colour is the sky?');
  const { passed, runId, received } = await answerAtOnce(opened, call, answer.replace('Blue', repeated));
  expect(received).not.toContain('(end)');
  await passed.whole;
  expect(journalOf(opened.directory)).toContain('Completed');
  expect(journalOf(opened.directory)).not.toContain(key);
  expect(journalOf(opened.directory)).not.toContain(repeated.slice(1));
  expect(opened.storage.runs.read(runId)?.output.content).toBe('[redacted].');
});

test('a response without the key of its call is in the journal at once', async () => {
  const opened = open([key]);
  const { runId, received } = await answerAtOnce(opened, callWith('Which colour is the sky?'));
  expect(received).toBe(`${answer} (end)`);
  expect(opened.storage.runs.read(runId)?.output.content).toBe('Blue.');
});

test('a key in two parts of a response is whole nowhere', async () => {
  const opened = open([key]);
  const parts = [key.slice(0, 5), key.slice(5)].map((text) => ({ type: 'text', text }));
  const body = JSON.stringify({ choices: [{ message: { content: parts }, finish_reason: 'stop' }] });
  const { runId } = await answerAtOnce(opened, callWith('Which colour is the sky?'), body);
  expect(opened.storage.runs.read(runId)?.output.content).toBe('[redacted]');
});

test('a call whose provider reports an impossible usage stays in the audit, without the usage', async () => {
  const opened = open();
  const usage = { prompt_tokens: 1e19, completion_tokens: 3, total_tokens: 1e19 };
  const body = JSON.stringify({ ...JSON.parse(answer), usage });
  const { runId } = await answerAtOnce(opened, callWith('Which colour is the sky?'), body);
  await opened.recorder.close();
  await opened.storage.close();
  const storage = openStorage({ directory: opened.directory });
  storages.splice(0, 1, storage);
  expect(storage.runs.read(runId)).toMatchObject({ status: 'Completed', usage: null, output: { content: 'Blue.' } });
});
