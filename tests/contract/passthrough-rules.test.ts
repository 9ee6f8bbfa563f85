// @module-tag slow
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { defaultSettings } from '../../shared/contract/settings.ts';
import { foundRuns, guardOf, threat } from '../support/guarded-host.ts';
import { pngOf } from '../support/image-files.ts';
import type { ScriptedHandler } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
const setGuard = guardOf(() => host);
afterEach(() => void host.host.storage.settings.update({ recorder: defaultSettings.recorder }));

function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  return host.send('HTTP/1.1', {
    method: 'POST',
    path: `/openai/scripted/v1/${path}`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${host.key}`, ...headers },
    body,
  });
}

function send(
  content: unknown,
  { stream = false, headers = {} }: { stream?: boolean; headers?: Record<string, string> } = {},
) {
  const body = { model: 'scripted', messages: [{ role: 'user', content }], ...(stream && { stream }) };
  return post('chat/completions', JSON.stringify(body), headers);
}

function recordOf({ headers }: { headers: Record<string, unknown> }) {
  return host.host.storage.runs.read(String(headers['x-touchstone-run-id']))!;
}

describe('the guard', () => {
  test('blocks a prompt before it is sent, with an error of the API', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const before = host.provider.calls.length;
    const { status, text } = await send(threat);
    expect({ status, message: JSON.parse(text).error.message }).toEqual({
      status: 400,
      message: expect.stringContaining('The guard blocked the prompt'),
    });
    expect(host.provider.calls).toHaveLength(before);
  });

  test('also checks what is too much for the record', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const before = host.provider.calls.length;
    const parts = Array.from({ length: 10_000 }, () => ({ type: 'text', text: 'a ' }));
    const { status } = await send([...parts, { type: 'text', text: threat }]);
    expect(status).toBe(400);
    expect(host.provider.calls).toHaveLength(before);
  });

  test.each<[string, string, object]>([
    [
      'a system message',
      'chat/completions',
      { messages: [{ role: 'system', content: `${'a '.repeat(4_200_000)}${threat}` }] },
    ],
    ['its tools', 'chat/completions', { messages: [], tools: [...Array.from({ length: 50_000 }, () => 1), threat] }],
    [
      'fields after many values',
      'responses',
      { input: 'Hello', tools: Array.from({ length: 49_999 }, () => 1), previous_response_id: 'stored' },
    ],
  ])('also checks %s that is too much for the record', async (_what, path, body) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.provider.calls.length;
    const { status, text } = await post(path, JSON.stringify({ model: 'scripted', ...body }));
    expect({ status, message: JSON.parse(text).error.message }).toEqual({
      status: 400,
      message: expect.stringMatching(/^The guard (blocked the prompt|can't check text that is stored)/),
    });
    expect(host.provider.calls).toHaveLength(before);
  });

  test.each([
    [
      'that has too many values',
      () => `{"model":"scripted","messages":[{"role":"user","content":"${threat}"}],"a":[${'0,'.repeat(4_000_001)}0]}`,
    ],
    [
      'that only some parsers read',
      () => `{"model":"scripted","messages":[{"role":"user","content":"${threat}"}],"top_p":NaN}`,
    ],
    [
      'that is nested too deeply',
      () => `{"model":"scripted","messages":[],"a":${'['.repeat(300)}"${threat}"${']'.repeat(300)}}`,
    ],
    ['in other characters', () => Buffer.from(`{"messages":[{"role":"user","content":"${threat}"}]}`, 'utf16le')],
    ['without a body', () => ''],
  ])('blocks a request %s, because it cannot check it', async (_what, bodyOf) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.provider.calls.length;
    const { status, text } = await post('chat/completions', bodyOf());
    expect([status, JSON.parse(text).error]).toEqual([
      400,
      expect.objectContaining({
        type: 'invalid_request_error',
        message: expect.stringContaining("can't check this request"),
      }),
    ]);
    expect(host.provider.calls).toHaveLength(before);
  });

  test.each([
    ['/anthropic/v1/messages', 'x-api-key', { type: 'error', error: { type: 'invalid_request_error' } }],
    ['/gemini/v1beta/models/m:generateContent', 'x-goog-api-key', { error: { status: 'INVALID_ARGUMENT' } }],
  ])('blocks what it cannot check with the error of the API %s', async (path, header, error) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const headers = { 'content-type': 'application/json', [header]: host.key };
    const { status, text } = await host.send('HTTP/1.1', { method: 'POST', path, headers, body: '{"a":NaN}' });
    expect([status, JSON.parse(text)]).toMatchObject([400, error]);
    expect(text).toContain("can't check this request");
  });

  test('checks a text file in a long body', async () => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const url = `data:text/plain;base64,${Buffer.from(threat).toString('base64')}`;
    const { status } = await send([
      { type: 'text', text: 'Hello. '.repeat(30_000) },
      { type: 'file', file: { filename: 'a.txt', file_data: url } },
    ]);
    expect(status).toBe(400);
  });

  test('blocks an answer that only some parsers read', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    const body = `{"choices":[{"message":{"content":"${threat}"},"finish_reason":"stop","logprobs":NaN}]}`;
    host.provider.answerWith((call) =>
      call
        .head(200, { 'content-type': 'application/json' })
        .write(Buffer.from(body))
        .then(() => call.end()),
    );
    const { status, text } = await send('Hello');
    expect([status, text.includes('knife')]).toEqual([400, false]);
  });

  test('notes what it finds in a short answer, and in its prompt', async () => {
    setGuard({ prompts: 'note', answers: 'note' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
    const passed = await send(threat);
    expect(passed.status).toBe(200);
    const found = { categories: expect.arrayContaining(['violence']) };
    const { moderation } = recordOf(passed);
    expect(moderation).toMatchObject({ prompt: found, answer: found });
  });

  test.each([false, true])('holds an answer back until it is judged; streamed: %s', async (stream) => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    const answerWith = (content: string) =>
      host.provider.answerWith((call) => (stream ? call.chatStream([content]) : call.chatAnswer({ content })));
    answerWith(threat);
    const blocked = await send('Hello', { stream });
    expect({ status: blocked.status, isShown: blocked.text.includes('knife') }).toEqual({
      status: 400,
      isShown: false,
    });
    answerWith('Good morning to you.');
    const shown = await send('Hello', { stream });
    expect({ status: shown.status, isShown: shown.text.includes('Good morning') }).toEqual({
      status: 200,
      isShown: true,
    });
  });

  test('names the run of an answer that it blocks', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
    const blocked = await send('Hello');
    expect([blocked.status, blocked.headers['x-touchstone-recorded']]).toEqual([400, 'all']);
    expect(recordOf(blocked)).toMatchObject({
      conversationId: blocked.headers['x-touchstone-conversation-id'],
      output: { content: '', finishReason: 'ContentFilter' },
      moderation: { answer: { withheld: threat } },
    });
  });

  test.each<[string, object, string]>([
    [
      'what is too long for the record of an unknown part',
      { messages: [{ role: 'user', content: [{ type: 'memo', memo: `${'a '.repeat(2000)}${threat}` }] }] },
      'The guard blocked the prompt: ',
    ],
    [
      'an answer that the program wrote itself',
      {
        messages: [
          { role: 'assistant', content: threat },
          { role: 'user', content: 'Go on.' },
        ],
      },
      'The guard blocked an earlier message',
    ],
    [
      'an image by its address',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }] }] },
      'The guard can\'t check the file "https://a.test/b.png" (by its address).',
    ],
  ])('blocks %s', async (_what, body, message) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.provider.calls.length;
    const { status, text } = await post('chat/completions', JSON.stringify({ model: 'scripted', ...body }));
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(message)]);
    expect(host.provider.calls).toHaveLength(before);
  });

  const linked = [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }];
  test.each<[string, string, object]>([
    ['messages', 'chat/completions', { messages: [{ role: 'user', content: threat }] }],
    ['messages', 'chat/completions', { messages: [{ role: 'user', content: linked }] }],
    ['tools', 'chat/completions', { messages: [], tools: [threat] }],
    ['input', 'responses', { input: threat }],
    ['instructions', 'responses', { input: 'Hello', instructions: threat }],
    ['previous_response_id', 'responses', { input: 'Hello', previous_response_id: 'resp_1' }],
  ])('names the field %s as a request to %s has it: %o', async (param, path, body) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const { status, text } = await post(path, JSON.stringify({ model: 'scripted', ...body }));
    expect([status, JSON.parse(text).error]).toEqual([
      400,
      expect.objectContaining({ param, message: expect.not.stringContaining('configuration.') }),
    ]);
  });

  test.each<Record<string, string>>([
    { 'content-type': 'application/json; charset=utf-7' },
    { 'content-encoding': 'gzip' },
  ])('blocks a body that a provider may decode differently: %s', async (headers) => {
    setGuard({ prompts: 'refuse', answers: 'off' });
    const before = host.provider.calls.length;
    const { status } = await post('chat/completions', '{"model":"scripted","messages":[]}', headers);
    expect([status, host.provider.calls.length]).toEqual([400, before]);
  });

  test.each([false, true])('judges reasoning and further choices; streamed: %s', async (stream) => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    const choices = [
      [{ index: 0, content: 'Hello.', reasoning_content: threat }],
      [
        { index: 0, content: 'Hello.' },
        { index: 1, content: threat },
      ],
    ].map((list) =>
      list.map(({ index, ...more }) => ({ index, [stream ? 'delta' : 'message']: more, finish_reason: 'stop' })),
    );
    for (const some of choices) {
      const json = JSON.stringify({ id: 'c', choices: some });
      const [type, body] = stream
        ? ['text/event-stream', `data: ${json}\n\ndata: [DONE]\n\n`]
        : ['application/json', json];
      host.provider.answerWith((call) =>
        call
          .head(200, { 'content-type': type })
          .write(Buffer.from(body))
          .then(() => call.end()),
      );
      const { status, text } = await send('Hello', { stream });
      expect([status, text.includes('knife')]).toEqual([400, false]);
    }
  });

  test('judges an answer as the program gets it, and records what it withholds redacted', async () => {
    const { recorder } = defaultSettings;
    const redaction = [{ kind: 'pattern', name: 'word', pattern: 'break|kill|knife|worthless|idiot' } as const];
    host.host.storage.settings.update({ recorder: { ...recorder, redaction } });
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
    const blocked = await send('Hello');
    expect(blocked.status).toBe(400);
    const { withheld } = recordOf(blocked).moderation!.answer!;
    expect(withheld).toBe(threat.replaceAll(/break|kill|knife|worthless|idiot/g, '[word]'));
  });

  test('judges an answer of which nothing is recorded, too', async () => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) => call.chatAnswer({ content: threat }));
    const before = host.host.storage.runs.count();
    const { status, text } = await send('Hello', { headers: { 'x-touchstone-record': 'none' } });
    expect([status, text.includes('knife'), host.host.storage.runs.count()]).toEqual([400, false, before]);
  });

  test.each([
    ['is longer than it can read', {}, Buffer.alloc(33 * 1_048_576, ' ')],
    [
      'is in other characters',
      { 'content-type': 'application/json; charset=utf-7' },
      Buffer.from('{"choices":[{"message":{"content":"+AGs-nife"}}]}'),
    ],
    ['has an encoding that it does not know', { 'content-encoding': 'own' }, Buffer.from('knife')],
  ])('blocks an answer that %s', async (_what, headers, body) => {
    setGuard({ prompts: 'off', answers: 'refuse' });
    host.provider.answerWith((call) =>
      call
        .head(200, headers)
        .write(body)
        .then(() => call.end()),
    );
    const { status, text } = await send('Hello');
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining('could not be checked')]);
  });

  test('notes what it finds', async () => {
    setGuard({ prompts: 'note', answers: 'note' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'No.' }));
    const response = await send(threat);
    expect(response.status).toBe(200);
    const { runId } = recordOf(response);
    expect(await foundRuns(host, { moderationFlags: ['prompt:violence'] })).toContain(runId);
  });

  test('is noted once, also before an answer that the program made up', async () => {
    setGuard({ prompts: 'note', answers: 'off' });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'No.' }));
    const messages = [
      { role: 'user', content: `${threat} Again.` },
      { role: 'assistant', content: 'Made up.' },
      { role: 'user', content: 'Go on' },
    ];
    const ask = async (sent: readonly object[]) => {
      const body = JSON.stringify({ model: 'm', messages: sent });
      return recordOf(await post('chat/completions', body)).runId;
    };
    const first = await ask(messages);
    const second = await ask([...messages, { role: 'assistant', content: 'No.' }, { role: 'user', content: 'Why?' }]);
    const flagged = await foundRuns(host, { moderationFlags: ['prompt:violence'] });
    expect([flagged.includes(first), flagged.includes(second)]).toEqual([true, false]);
  });
});

describe('what is recorded', () => {
  test('is redacted before it is written, and never sent so', async () => {
    const { recorder } = defaultSettings;
    host.host.storage.settings.update({ recorder: { ...recorder, redaction: [{ kind: 'email' }] } });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Ask ada@example.org.' }));
    const response = await send('Write to bob@example.org');
    expect(JSON.parse(response.text).choices[0].message.content).toBe('Ask ada@example.org.');
    expect(host.provider.calls.at(-1)!.bodyText).toContain('bob@example.org');
    const run = recordOf(response);
    expect([run.input.renderedPrompt, run.output.content]).toEqual(['Write to [e-mail]', 'Ask [e-mail].']);
    host.host.storage.flush();
    const database = new Database(host.host.storage.databaseFile, { readonly: true });
    const texts = database.prepare('SELECT * FROM run_texts ORDER BY run DESC LIMIT 1').get();
    const exchanges = database
      .prepare('SELECT count(*) FROM provider_exchanges WHERE run_id = ?')
      .pluck()
      .get(run.runId);
    database.close();
    expect(JSON.stringify(texts)).not.toContain('@example.org');
    expect(exchanges).toBe(0);
  });

  test('is redacted in the headers of the program and in its name, and counts what it hides', async () => {
    const { recorder } = defaultSettings;
    const key = 'sk-proj-aB3dE5fG7hI9jK1lM3nO5pQ7';
    const redaction = [
      { kind: 'secret' },
      { kind: 'email' },
      { kind: 'pattern', name: 'claim', pattern: 'NW-[0-9]+' },
    ] as const;
    host.host.storage.settings.update({ recorder: { ...recorder, redaction: [...redaction] } });
    host.provider.answerWith((call) => call.chatAnswer({ content: `Ada's key is ${key}` }));
    const counts = async (): Promise<{ hidden: { kind: string; count: number }[] }> =>
      (await host.host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' })).json();
    const before = (await counts()).hidden.find(({ kind }) => kind === 'email')?.count ?? 0;
    const headers = {
      'x-app-user': 'ada@example.org',
      'x-app-claim': 'NW-17',
      'user-agent': 'agent (bob@example.org)',
    };
    const run = recordOf(await send(`Ada is ada@example.org, NW-12, ${key}`, { headers }));
    expect(run).toMatchObject({
      appHeaders: { user: '[e-mail]', claim: '[claim]' },
      origin: { client: 'agent ([e-mail])' },
      input: { renderedPrompt: 'Ada is [e-mail], [claim], [key]' },
      output: { content: "Ada's key is [key]" },
    });
    expect(host.provider.calls.at(-1)!.headers['user-agent']).toBe('agent (bob@example.org)');
    const { hidden } = await counts();
    expect(hidden.find(({ kind }) => kind === 'email')!.count - before).toBe(1);
    expect(hidden).toContainEqual({ kind: 'secret', pattern: null, count: 2 });
    expect(hidden).toContainEqual({ kind: 'pattern', pattern: 'NW-[0-9]+', count: 1 });
    host.host.storage.flush();
    for (const file of [host.host.storage.databaseFile, `${host.host.storage.databaseFile}-wal`])
      expect((await readFile(file, 'latin1')).includes('bob@example.org')).toBe(false);
  });

  test('is redacted by custom patterns, and one that can never match is rejected before it is saved', async () => {
    const { recorder } = defaultSettings;
    const save = (pattern: string) =>
      host.host.api.fetch(
        new Request('http://window.test/window/settings', {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ recorder: { ...recorder, redaction: [{ kind: 'pattern', name: 'claim', pattern }] } }),
        }),
        { access: 'window' },
      );
    const rejected = await save('NW-(');
    expect([rejected.status, (await rejected.json()).error.details[0].field]).toEqual([
      400,
      'recorder.redaction[0].pattern',
    ]);
    expect((await save(String.raw`NW-\d{5}`)).status).toBe(200);
    host.provider.answerWith((call) => call.chatAnswer({ content: 'NW-12345 is paid.' }));
    const { input, output } = recordOf(await send('Is nw-12345 paid?'));
    expect([input.renderedPrompt, output.content]).toEqual(['Is [claim] paid?', '[claim] is paid.']);
  });

  test('has the files of a request by their hash', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'A dot.' }));
    const image = pngOf();
    const url = `data:image/png;base64,${image.toString('base64')}`;
    const run = recordOf(
      await send([
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url } },
      ]),
    );
    const fileId = createHash('sha256').update(image).digest('hex');
    expect(run.input.messages).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', fileId, mediaType: 'image/png', bytes: image.length },
        ],
      },
    ]);
    const file = { path: `/files/${fileId}`, headers: { authorization: `Bearer ${host.key}` } };
    await expect.poll(async () => (await host.send('HTTP/1.1', file)).status).toBe(200);
  });

  test('is nothing of a path whose rule says so', async () => {
    const { recorder } = defaultSettings;
    const levels = { ...recorder.levels, 'openai-chat': 'none' as const };
    host.host.storage.settings.update({ recorder: { ...recorder, levels } });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.host.storage.runs.count();
    const { status, headers } = await send('Hello', { headers: { 'x-touchstone-record': 'all' } });
    expect([status, headers['x-touchstone-recorded'], host.host.storage.runs.count()]).toEqual([200, 'none', before]);
  });

  test('is nothing while recording is paused', async () => {
    const { recorder } = defaultSettings;
    host.host.storage.settings.update({ recorder: { ...recorder, isPaused: true } });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.host.storage.runs.count();
    const { status, headers } = await send('Hello');
    expect([status, headers['x-touchstone-recorded'], host.host.storage.runs.count()]).toEqual([200, 'none', before]);
  });

  test('can be less than the rules allow, for one call', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const response = await send('Hello', { headers: { 'x-touchstone-record': 'metadata', 'x-app-team': 'blue' } });
    const { input, output, usage } = recordOf(response);
    expect({ messages: input.messages, content: output.content, tokens: usage!.total_tokens }).toMatchObject({
      content: '',
      tokens: 12,
    });
    expect(JSON.stringify(input)).not.toContain('Hello');
    expect((await send('Hello', { headers: { 'x-touchstone-record': 'some' } })).status).toBe(400);
  });

  test('is no text at all of a call whose metadata alone are recorded', async () => {
    // As the classifier flags it, and as nothing else contains it.
    const text = `${threat} marker-7f3a9`;
    const { recorder } = defaultSettings;
    const levels = { ...recorder.levels, 'openai-chat': 'metadata', 'openai-responses': 'metadata' } as const;
    host.host.storage.settings.update({ recorder: { ...recorder, levels } });
    const chat = { model: 'scripted', messages: [{ role: 'system', content: text }], tools: [text], user: text };
    const bodies: [string, object][] = [
      ['chat/completions', { ...chat, metadata: { [text]: text } }],
      ['chat/completions', { ...chat, stream: true }],
      ['responses', { model: 'scripted', input: text, instructions: text, previous_response_id: text, prompt: text }],
    ];
    const answers: ScriptedHandler[] = [
      (call) => call.chatAnswer({ content: text }),
      (call) => call.chatStream([text, text]),
      (call) =>
        call.json(200, { id: text, usage: { prompt_tokens: 1, [text]: text }, choices: [], output: [], error: text }),
      (call) => call.fail(500, text, { 'x-request-id': 'marker-7f3a9' }),
      (call) => call.head(200, {}).end(text),
      (call) => call.head(200, { 'content-encoding': 'marker-7f3a9' }).end(text),
    ];
    const sendAll = async (path: string, body: object) => {
      for (const answer of answers) {
        host.provider.answerWith(answer);
        await post(path, JSON.stringify(body));
      }
    };
    setGuard({ prompts: 'note', answers: 'note' });
    for (const [path, body] of bodies) await sendAll(path, body);
    setGuard({ prompts: 'off', answers: 'refuse' });
    await sendAll(...bodies[0]!);
    setGuard({ prompts: 'refuse', answers: 'off' });
    await post(bodies[0]![0], JSON.stringify(bodies[0]![1]));
    host.host.storage.flush();
    const found: string[] = [];
    for (const entry of await readdir(host.dataDirectory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      if ((await readFile(file)).includes('7f3a9')) found.push(file);
    }
    expect([found, host.log.filter((line) => line.includes('7f3a9'))]).toEqual([[], []]);
  });

  test('of long bodies is read beside the event loop', async () => {
    const content = 'a long question '.repeat(60_000);
    host.provider.answerWith((call) =>
      call.chatStream(Array.from({ length: 200 }, () => 'a long answer '.repeat(100))),
    );
    const run = recordOf(await send(content, { stream: true }));
    expect([run.input.renderedPrompt?.length, run.output.content.length]).toEqual([content.length, 280_000]);
  });
});

describe('a call that cannot be recorded', () => {
  const failure = () => new Database.SqliteError('database or disk is full', 'SQLITE_FULL');

  async function whileFailing<Result>(method: 'requireRoom' | 'finish', act: () => Promise<Result>): Promise<Result> {
    const store = host.host.storage.runs;
    const original = store[method];
    Object.assign(store, {
      [method]:
        method === 'finish'
          ? () => Promise.reject(failure())
          : () => {
              throw failure();
            },
    });
    try {
      return await act();
    } finally {
      Object.assign(store, { [method]: original });
    }
  }

  test('goes through, and says so', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const { status, headers, text } = await whileFailing('requireRoom', () => send('Hello'));
    expect([status, headers['x-touchstone-recorded'], JSON.parse(text).choices[0].message.content]).toEqual([
      200,
      'failed',
      'Blue.',
    ]);
    const counts = await host.host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' });
    expect(await counts.json()).toMatchObject({ failed: 1, lastFailureAt: expect.any(String) });
  });

  test('takes one key of Touchstone, in x-hl-api-key too, which goes no further', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const body = JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] });
    const statusWith = async (headers: Record<string, string>) =>
      (await post('chat/completions', body, headers)).status;
    const provided = { authorization: 'Bearer sk-own', 'x-hl-api-key': host.key };
    expect(await statusWith(provided)).toBe(200);
    expect(JSON.stringify(host.provider.calls.at(-1)!.headers)).not.toContain(host.key);
    expect(await statusWith({ 'x-hl-api-key': host.key, 'x-api-key': host.key })).toBe(200);
    expect(await statusWith({ 'x-api-key': host.issueKey() })).toBe(401);
    expect(await statusWith({ 'x-hl-api-key': host.issueKey() })).toBe(401);
  });

  test('is known to the window if it is rejected before it is recorded', async () => {
    const rejection = async () => {
      const counts = await host.host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' });
      return (await counts.json()).lastRejection;
    };
    expect((await post('chat/completions', '{}', { authorization: 'Bearer sk-own' })).status).toBe(401);
    expect(await rejection()).toMatchObject({ status: 401, message: expect.stringContaining('API key is unknown') });
    expect((await post('chat', '{}')).status).toBe(404);
    expect(await rejection()).toMatchObject({ status: 404 });
    // The list of calls shows what the provider rejects.
    host.provider.answerWith((call) => call.json(429, { error: { message: 'Too many' } }));
    expect((await send('Hello')).status).toBe(429);
    expect(await rejection()).toMatchObject({ status: 404 });
  });

  test('is known to the window if it has another Host or Origin, without its own text', async () => {
    const counts = async () => {
      const response = await host.host.api.fetch(new Request('http://window.test/window/recorder'), {
        access: 'window',
      });
      return (await response.json()).lastRejection;
    };
    const evil = '<b>evil</b>.example';
    await post('chat/completions', '{}', { authorization: 'Bearer sk-own' });
    const { message } = await counts();
    await post('chat/completions', '{}', { origin: `https://${evil}` });
    expect(await counts()).toMatchObject({ source: 'program', message });
    vi.useFakeTimers({ now: Date.now() + 600_000, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    await post('chat/completions', '{}', { origin: `https://${evil}` });
    expect(await counts()).toMatchObject({
      source: 'unknown',
      status: 403,
      message: expect.stringMatching(/^Pages of other sites/),
    });
    await post('chat/completions', '{}', { host: 'host.docker.internal:4300' });
    const last = await counts();
    expect(last).toMatchObject({ source: 'unknown', status: 421, message: expect.stringContaining('127.0.0.1') });
    expect(last.message).not.toMatch(/docker|evil/);
    await post('chat/completions', '{}', { authorization: 'Bearer sk-own' });
    expect(await counts()).toMatchObject({ source: 'program', status: 401 });
  });

  test('goes through if its request cannot be read', async () => {
    const { recorder } = defaultSettings;
    // Saved before patterns were checked.
    const redaction = [{ kind: 'pattern' as const, name: 'broken', pattern: '(' }];
    host.host.storage.settings.update({ recorder: { ...recorder, redaction } });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const { status, headers } = await send('Hello');
    expect([status, headers['x-touchstone-recorded']]).toEqual([200, 'failed']);
    host.host.storage.settings.update({ recorder: { ...recorder, redaction, onFailure: 'block' } });
    const blocked = await send('Hello');
    expect([blocked.status, JSON.parse(blocked.text).error.message]).toEqual([400, expect.stringContaining('regular')]);
  });

  test('goes through with more values than can be read, unless it must be recorded', async () => {
    const body = `{"model":"scripted","messages":[],"a":[${'0,'.repeat(4_000_001)}0]}`;
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const { status, headers } = await post('chat/completions', body);
    expect([status, headers['x-touchstone-recorded']]).toEqual([200, 'failed']);
    const { recorder } = defaultSettings;
    host.host.storage.settings.update({ recorder: { ...recorder, onFailure: 'block' } });
    expect((await post('chat/completions', body)).status).toBe(413);
  });

  test('goes through if only its end fails', async () => {
    host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const { status, text } = await whileFailing('finish', () => send('Hello', { stream: true }));
    expect([status, text.endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
  });

  test('fails if the settings say that it must be recorded', async () => {
    const { recorder } = defaultSettings;
    host.host.storage.settings.update({ recorder: { ...recorder, onFailure: 'block' } });
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const before = host.provider.calls.length;
    const { status, text } = await whileFailing('requireRoom', () => send('Hello'));
    expect([status, JSON.parse(text).error.message]).toEqual([500, expect.stringContaining('The disk is full')]);
    expect(host.provider.calls).toHaveLength(before);
    host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const failed = async () => {
      const counts = await host.host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' });
      return (await counts.json()).failed;
    };
    const failedBefore = await failed();
    // Its head may have been sent, so only a break can tell.
    await expect(whileFailing('finish', () => send('Hello', { stream: true }))).rejects.toThrow(/aborted|hang up/);
    expect(await failed()).toBe(failedBefore + 1);
  });
});
