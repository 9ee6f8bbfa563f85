// @module-tag slow
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exifOf, jpegOf, pngOf } from '../support/image-files.ts';
import { storeSourceFile } from '../../shared/contract/files.ts';
import { countTokens } from '../../shared/contract/completions.ts';
import { setProviderKey, updateProvider } from '../../shared/contract/providers.ts';
import { windowClient } from '../support/window-client.ts';
import { callJson, rejectionOf } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { addSource, formOf, uploadRequest } from '../support/source-upload.ts';
import { completionCall, minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
let calls: ScriptedCall[] = [];
beforeAll(async () => {
  host = await startTestHost();
});
beforeEach(() => {
  calls = [];
  host.provider.answerWith((call) => {
    calls.push(call);
    if (call.body['stream'] === true) return call.chatStream(['A ', 'raven.']);
    call.chatAnswer({ content: 'A raven.' });
  });
});
afterAll(() => host.close());

const png = pngOf({ width: 5, height: 5 });
const base64 = png.toString('base64');
const photo = { mediaType: 'image/png', data: base64 };
const promptText = 'What is this?{{media url=photo}}';

async function run(way: Way, body: Record<string, unknown>, path = '/api/completions/sync') {
  const answer = await host.send(way, completionCall(host, path, { promptText, ...body }));
  return { ...answer, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : null };
}

async function send(content: Buffer | string, fileName: string, key = host.key) {
  const form = formOf([{ name: 'file', content, fileName }]);
  const { text } = await host.send('in memory', { ...uploadRequest({ key }, form), path: '/files' });
  return JSON.parse(text);
}

async function fromWindow(path: string) {
  const response = await host.host.api.fetch(new Request(`http://window.test${path}`), { access: 'window' });
  return response.text();
}

const sentContent = () => (calls[0]!.body['messages'] as { content: unknown }[])[0]!.content;

describe.each(ways)('%s: a prompt with a file', (way) => {
  test('sends the content, and records the file without it', async () => {
    const { status, body } = await run(way, { replacements: { photo } });
    expect(status).toBe(200);
    expect(sentContent()).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    ]);
    const detail = JSON.parse(await fromWindow(`/window/runs/${body.runId}`));
    const [{ id }] = [await send(png, 'same.png')];
    expect(detail.input.replacements).toEqual({ photo: { fileId: id } });
    expect(detail.input.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', fileId: id, mediaType: 'image/png', name: expect.any(String), bytes: png.length },
        ],
      },
    ]);
  });

  test.each(['/api/completions/sse', '/api/completions/stream'])('streams over %s', async (path) => {
    const { status, text } = await run(way, { replacements: { photo } }, path);
    expect([status, text.includes('raven')]).toEqual([200, true]);
    expect(JSON.stringify(calls[0]!.body)).toContain(base64);
  });
});

test('base64 is in no log, wire view, run or audit', async () => {
  const { body } = await run('in memory', { replacements: { photo } });
  const exchanges = await fromWindow(`/window/runs/${body.runId}/exchanges`);
  expect(exchanges).toContain('[file ');
  const audit = await callJson(host, 'in memory', 'POST', '/audit/conversations', {
    body: { conversationRunId: body.runId },
  });
  const detail = await fromWindow(`/window/runs/${body.runId}`);
  for (const text of [exchanges, audit.text, detail, host.log.join('\n')]) expect(text).not.toContain(base64);
  expect(audit.text).toContain('"fileId"');
});

test('a continuation with the results of tools sends the file again', async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const answers = [
    { message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
    { message: { role: 'assistant', content: 'Sunny.' }, finish_reason: 'stop' },
  ];
  host.provider.answerWith((received) => {
    calls.push(received);
    const choices = [{ index: 0, ...answers[calls.length - 1] }];
    received.json(200, { id: 'a', created: 1_780_000_000, model: 'scripted', choices });
  });
  const configuration = {
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
  };
  const { body } = await run('in memory', { replacements: { photo }, configuration });
  const results = { continueRunId: body.runId, toolResults: [{ toolCallId: 'call_1', content: 'Sun' }] };
  const continuation = { ...completionCall(host, '/api/completions/sync', {}), body: JSON.stringify(results) };
  const { status, text } = await host.send('in memory', continuation);
  expect([status, text.includes('Sunny.')]).toEqual([200, true]);
  expect(JSON.stringify(calls[1]!.body)).toContain(base64);
});

test('a file that was sent before, in a list, and a source', async () => {
  const { id } = await send(jpegOf({ exif: exifOf(1) }), 'a.jpg');
  const source = await addSource(host, 'in memory', 'Ravens are black.');
  const replacements = { photos: [{ fileId: id.toUpperCase() }, photo], notes: { sourceId: source.id } };
  const list = '{{#each photos}}{{media url=this}}{{/each}}{{media url=notes}}';
  const { status } = await run('in memory', { promptText: list, replacements });
  expect(status).toBe(200);
  expect(sentContent()).toEqual([
    { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${jpegOf().toString('base64')}` } },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
    { type: 'text', text: 'Ravens are black.' },
  ]);
});

test('a key with only `run` that sends a source can read its original', async () => {
  const source = await addSource(host, 'in memory', 'Ravens are black.');
  const [key, other] = [host.issueKey({ scopes: ['run'] }), host.issueKey({ scopes: ['run'] })];
  const ask = {
    ...minimalRequest,
    promptText: '{{media url=notes}}',
    replacements: { notes: { sourceId: source.id } },
  };
  const answer = await callJson(host, 'in memory', 'POST', '/api/completions/sync', { key, body: ask });
  const conversation = `/conversations/${answer.headers['x-conversation-id']}`;
  const { body } = await callJson(host, 'in memory', 'GET', conversation, { key });
  const path = `/files/${body.runs[0].input.replacements.notes.fileId}`;
  const mine = await callJson(host, 'in memory', 'GET', path, { key });
  expect([mine.status, mine.text]).toEqual([200, 'Ravens are black.']);
  expect((await callJson(host, 'in memory', 'GET', path, { key: other })).status).toBe(404);
});

test('the window takes the original of a source as a file', async () => {
  const { id } = await addSource(host, 'in memory', 'Ravens are black.');
  const client = windowClient(host.host);
  const file = await client.call(storeSourceFile, { body: { sourceId: id } });
  expect(file).toMatchObject({ mediaType: 'text/plain', bytes: 17 });
  const unknown = client.call(storeSourceFile, { body: { sourceId: 'x' } });
  await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  '{{~ [media] url=photo}}',
  "{{& 'media' url=photo}}",
  '{{media\n  url=photo}}',
  `{{${' '.repeat(200)}media url=photo}}`,
])('the file of %j', async (tag) => {
  expect((await run('in memory', { promptText: tag, replacements: { photo } })).status).toBe(200);
  expect(JSON.stringify(sentContent())).toContain(base64);
});

test.each([
  ['no file', { photo: 'text' }, 400, 'promptText'],
  ['nothing', {}, 400, 'promptText'],
  ['an unknown file', { photo: { fileId: '0'.repeat(64) } }, 400, 'replacements.photo.fileId'],
  ['an unknown source', { photo: { sourceId: 'x' } }, 400, 'replacements.photo.sourceId'],
  ['text that is no base64', { photo: { mediaType: 'image/png', data: 'ab c' } }, 400, 'replacements.photo.data'],
  ['an empty file', { photo: { mediaType: 'image/png', data: '' } }, 400, 'replacements.photo'],
  ['another type', { photo: { mediaType: 'image/jpeg', data: base64 } }, 400, 'replacements.photo'],
  ['a program', { photo: { mediaType: 'image/png', data: 'TVqQAAMAAAAEAAAA//8AAA==' } }, 400, 'replacements.photo'],
])('%s is rejected with its field, before anything is sent', async (_what, replacements, status, field) => {
  const rejected = await run('in memory', { replacements });
  expect([rejected.status, rejected.body.error.details[0].field]).toEqual([status, field]);
  expect(calls).toEqual([]);
});

test("another caller's file is unknown", async () => {
  const { id } = await send('not for everyone', 'a.txt', host.issueKey({ scopes: ['run'] }));
  const key = host.issueKey({ scopes: ['run'] });
  const body = {
    aiSystem: 'OpenAiCompatible',
    model: 'scripted/model',
    promptText,
    replacements: { photo: { fileId: id } },
  };
  const rejected = await callJson(host, 'in memory', 'POST', '/api/completions/sync', { key, body });
  expect(rejectionOf(rejected)).toEqual([
    400,
    'invalid_request',
    [{ field: 'replacements.photo.fileId', issue: 'is not a file' }],
  ]);
});

test('the caller of a run can read its file', async () => {
  const key = host.issueKey({ scopes: ['run'] });
  const body = { aiSystem: 'OpenAiCompatible', model: 'scripted/model', promptText, replacements: { photo } };
  expect((await callJson(host, 'in memory', 'POST', '/api/completions/sync', { key, body })).status).toBe(200);
  const { id } = await send(png, 'a.png');
  expect((await callJson(host, 'in memory', 'GET', `/files/${id}`, { key })).status).toBe(200);
});

test("rejects files that a provider or a role doesn't support with 400 and names them", async () => {
  const pdf = {
    mediaType: 'application/pdf',
    data: readFileSync(join(import.meta.dirname, '../fixtures/knowledge/report.pdf')).toString('base64'),
  };
  const groq = await run('in memory', {
    aiSystem: 'Groq',
    model: 'llama-3.3-70b-versatile',
    replacements: { photo: pdf },
  });
  expect([groq.status, groq.body.error.message]).toEqual([400, expect.stringContaining('(application/pdf)')]);
  const system = await run('in memory', {
    promptText: '{{role "system"}}{{media url=photo}}{{role "user"}}Hello',
    replacements: { photo },
  });
  expect([system.status, system.body.error.message]).toEqual([400, expect.stringContaining('system message')]);
  expect(calls).toEqual([]);
});

const pdf = {
  mediaType: 'application/pdf',
  data: readFileSync(join(import.meta.dirname, '../fixtures/knowledge/report.pdf')).toString('base64'),
};

test('a run with nothing but a file is listed by its name', async () => {
  const { id } = await send(png, 'crown.png');
  const { body } = await run('in memory', {
    promptText: '{{media url=photo}}',
    replacements: { photo: { fileId: id } },
  });
  const { title } = host.host.storage.runs.read(body.runId)!;
  expect(title).toBe('crown.png');
});

test.each(ways)('%s: a PDF is sent as the text that it contains', async (way) => {
  const { status, body } = await run(way, { replacements: { photo: { ...pdf, as: 'text' } } });
  expect([status, JSON.stringify(calls[0]!.body)]).toEqual([200, expect.stringContaining('rubbed on the touchstone')]);
  const { messages, replacements } = host.host.storage.runs.read(body.runId)!.input;
  const part = messages.at(-1)!.content.find(({ type }) => type === 'file');
  expect(part).toMatchObject({ mediaType: 'text/plain', name: 'file.txt' });
  expect(replacements).toEqual({ photo: { fileId: (part as { fileId: string }).fileId } });
});

test.each(ways)('%s: a PDF is sent as images of its pages', async (way) => {
  const replacements = { photo: { ...pdf, as: 'pages', pages: '2, 1', resolution: 'low' } };
  const { status, body } = await run(way, { replacements });
  expect(status).toBe(200);
  const images = JSON.stringify(sentContent()).match(/data:image\/jpeg;base64,\/9j\//g);
  expect(images).toHaveLength(2);
  const { input } = JSON.parse(await fromWindow(`/window/runs/${body.runId}`));
  const parts = input.messages.at(-1).content.slice(1);
  expect(parts).toMatchObject([
    { type: 'file', mediaType: 'image/jpeg', name: 'file, page 2.jpg' },
    { type: 'file', mediaType: 'image/jpeg', name: 'file, page 1.jpg' },
  ]);
  expect(input.replacements.photo).toEqual(parts.map(({ fileId }: { fileId: string }) => ({ fileId })));
  const image = JSON.parse(await fromWindow(`/window/files/${parts[0].fileId}`));
  expect(image).toMatchObject({ height: 768, mediaType: 'image/jpeg' });
  // A replay sends what the run has stored.
  const again = await run(way, { replacements: input.replacements });
  expect([again.status, calls.length]).toEqual([200, 2]);
  expect(calls[1]!.body['messages']).toEqual(calls[0]!.body['messages']);
});

test('the pages of a listed PDF are further items of the list', async () => {
  const replacements = { photos: [photo, { ...pdf, as: 'pages', pages: '1-2' }] };
  const { status } = await run('in memory', {
    promptText: '{{#each photos}}{{media url=this}}{{/each}}',
    replacements,
  });
  expect([status, (sentContent() as unknown[]).length]).toEqual([200, 3]);
});

test('an image of a page counts as an image, so a model without vision rejects it', async () => {
  const rejected = await run('in memory', {
    aiSystem: 'Groq',
    model: 'llama-3.3-70b-versatile',
    replacements: { photo: { ...pdf, as: 'pages', pages: '1' } },
  });
  expect([rejected.status, rejected.body.error.message]).toEqual([400, expect.stringContaining('images')]);
});

test.each([
  [{ photo: { ...photo, as: 'text' } }, 'replacements.photo.as'],
  [{ photo: { ...pdf, as: 'picture' } }, 'replacements.photo.as'],
  [{ photo: { ...photo, as: 'pages' } }, 'replacements.photo.as'],
  [{ photo: { ...pdf, as: 'pages', pages: '2-1' } }, 'replacements.photo.pages'],
  [{ photo: { ...pdf, as: 'pages', pages: '1-9' } }, 'replacements.photo.pages'],
  [{ photo: { ...pdf, as: 'pages', resolution: 'best' } }, 'replacements.photo.resolution'],
  [{ photo: { ...pdf, as: 'text', pages: '1' } }, 'replacements.photo.pages'],
  [{ photo: { ...pdf, as: '' } }, 'replacements.photo.as'],
])('a form that the file has not is 400: %j', async (replacements, field) => {
  const rejected = await run('in memory', { replacements });
  expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, field]);
});

test('a PDF without text is 400 and names the field', async () => {
  const scanned = readFileSync(join(import.meta.dirname, '../fixtures/knowledge/scanned.pdf')).toString('base64');
  const rejected = await run('in memory', { replacements: { photo: { ...pdf, data: scanned, as: 'text' } } });
  expect([rejected.status, rejected.body.error]).toEqual([
    400,
    expect.objectContaining({
      message: expect.stringContaining('no text'),
      details: [expect.objectContaining({ field: 'replacements.photo' })],
    }),
  ]);
});

test('rejects files of more than 50 MB in all with 413', async () => {
  const contents = [1, 2, 3].map((digit) => send(Buffer.alloc(19_000_000, `${digit}`), `${digit}.txt`));
  const files = (await Promise.all(contents)).map(({ id }) => ({ fileId: id }));
  const rejected = await run('in memory', {
    promptText: '{{#each files}}{{media url=this}}{{/each}}',
    replacements: { files },
  });
  expect([rejected.status, rejected.body.error.code]).toEqual([413, 'payload_too_large']);
});

test.each([
  ['{{photo.data}}', base64],
  ['For social media: {{photo.data}}', `For social media: ${base64}`],
  ['{{! {media} }}{{media.title}}{{media}}{{photo.data}}', base64],
])('an object like a file stays a value for templates without the tag media: %s', async (text, sent) => {
  const { status, body } = await run('in memory', { promptText: text, replacements: { photo, media: '' } });
  expect([status, sentContent()]).toEqual([200, sent]);
  expect(host.host.storage.runs.read(body.runId)?.input.replacements).toEqual({ photo, media: '' });
});

test.each([
  '{{#with photo}}{{media url=this}}{{/with}}',
  '{{#if photo}}{{~  media\nurl=photo}}{{/if}}',
  '{{#each photos}}{{#unless hidden}}{{&media url=this}}{{/unless}}{{/each}}',
  '{{{[media] url=photo}}}',
  '{{"media" url=photo}}',
  '{{media url=photo}}{{json photo}}{{json photos}}{{photo.data}}',
])('no base64 is stored for %s', async (text) => {
  const { status, body } = await run('in memory', { promptText: text, replacements: { photo, photos: [photo] } });
  expect([status, JSON.stringify(calls[0]!.body).split(base64).length]).toEqual([200, 2]);
  const stored = JSON.stringify(host.host.storage.runs.read(body.runId));
  expect([stored.includes(base64), stored.includes('"fileId"')]).toEqual([false, true]);
});

test('templates have no partials, so none can add a file', async () => {
  const rejected = await run('in memory', { promptText: '{{> media url=photo}}', replacements: { photo } });
  expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, 'promptText']);
});

test('content that is missing from the disk fails the run before anything is sent', async () => {
  const { id } = await send('gone', 'gone.txt');
  rmSync(join(host.dataDirectory, 'files', id.slice(0, 2), id));
  const failed = await run('in memory', { replacements: { photo: { fileId: id } } });
  expect([failed.status, failed.body.error.message]).toEqual([500, expect.stringContaining('"gone.txt" is missing')]);
  expect(calls).toEqual([]);
});

test('a file stays as long as a run uses it', async () => {
  await run('in memory', { replacements: { photo: { mediaType: 'text/plain', data: btoa('used by a run') } } });
  const { id } = await send('used by a run', 'a.txt');
  const unused = await send('used by no run', 'b.txt');
  await host.host.files.removeUnused({ now: Date.now() + 25 * 3_600_000 });
  expect((await callJson(host, 'in memory', 'GET', `/files/${id}`)).status).toBe(200);
  expect((await callJson(host, 'in memory', 'GET', `/files/${unused.id}`)).status).toBe(404);
});

describe('with the guard blocking prompts', () => {
  beforeEach(() => void host.host.storage.settings.update({ guard: { prompts: 'refuse', answers: 'off' } }));
  afterEach(() => void host.host.storage.settings.update({ guard: { prompts: 'off', answers: 'off' } }));

  test('checks the text of a file', async () => {
    const threat = 'I will find you, break your fingers and kill you with a knife, you worthless idiot.';
    const text = { mediaType: 'text/plain', data: btoa(threat) };
    const rejected = await run('in memory', { replacements: { photo: text } });
    expect([rejected.status, rejected.body.error.details[0].field]).toEqual([400, 'replacements']);
    const harmless = { mediaType: 'text/plain', data: btoa('A recipe for bread.') };
    expect((await run('in memory', { replacements: { photo: harmless } })).status).toBe(200);
    expect(calls.length).toBe(1);
  });

  test('rejects an image, which no classifier reads, by name', async () => {
    const { id } = await send(png, 'cat.png');
    const rejected = await run('in memory', { replacements: { photo: { fileId: id } } });
    expect([rejected.status, rejected.body.error.message]).toEqual([
      400,
      expect.stringContaining('can\'t check the file "cat.png" (image/png)'),
    ]);
    expect(calls).toEqual([]);
  });
});

test.each([
  ['OpenAi', 'gpt-4o', 'input_image'],
  ['Anthropic', 'claude-sonnet-4-5', '"type":"base64"'],
  ['GoogleGemini', 'gemini-2.5-flash', 'inlineData'],
] as const)('%s gets the content of an image, when it counts tokens, too', async (aiSystem, model, form) => {
  const client = windowClient(host.host);
  await client.call(updateProvider, { parameters: { aiSystem }, body: { baseAddress: host.provider.baseAddress } });
  await client.call(setProviderKey, { parameters: { aiSystem }, body: { key: 'sk-test-key' } });
  host.provider.answerWith((call) => {
    calls.push(call);
    call.json(200, { input_tokens: 9, totalTokens: 9 });
  });
  const body = { promptText, aiSystem, model, replacements: { photo } } as const;
  expect(await client.call(countTokens, { body })).toEqual({ tokens: 9 });
  expect([calls[0]!.bodyText.includes(base64), calls[0]!.bodyText.includes(form)]).toEqual([true, true]);
  await callJson(host, 'in memory', 'POST', '/api/completions/sync', { body });
  expect(calls[1]!.bodyText).toContain(base64);
});
