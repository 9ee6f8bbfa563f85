import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
function openRecorder(storage: Storage) {
  const steps: string[] = [];
  let receiver: ResponseReceiver | null = null;
  const begin = storage.runs.begin;
  vi.spyOn(storage.runs, 'begin').mockImplementation((run) => {
    steps.push('recorded');
    begin(run);
  });
  const recorder = createPassThrough({
    storage,
    providers: {
      pass: (_call: unknown, given: ResponseReceiver) => {
        steps.push('sent');
        receiver = given;
      },
      costOfCall: () => null,
    },
    pauses: { noteResponse: () => undefined },
    credits: { reserve: async () => ({ release: () => undefined }) },
    rateLimits: { reserveTokens: () => ({ correct: () => undefined }) },
    apiKeys: storage.apiKeys,
    exchanges: { open: () => null },
    log: () => undefined,
  } as unknown as PassThroughOptions);
  return { recorder, steps, receiver: () => receiver! };
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

function open() {
  const storage = openStorage({ directory: mkdtempSync(join(tmpdir(), 'touchstone-recorder-')) });
  storages.push(storage);
  return { storage, ...openRecorder(storage) };
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
