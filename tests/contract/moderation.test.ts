// @module-tag slow
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultModerationSettings, moderationAnswer } from '../../shared/contract/moderation.ts';
import type { CallerRequest } from '../support/http-clients.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterEach(() => void host.host.storage.settings.update({ moderation: defaultModerationSettings }));
afterAll(() => host.close());

const post = (body: string, headers: Record<string, string> = {}): CallerRequest => ({
  method: 'POST',
  path: '/moderations',
  headers: { 'content-type': 'application/json', 'x-hl-api-key': host.key, ...headers },
  body,
});
const check = (input: unknown) => post(JSON.stringify({ input }));

const categoryKeys = ['harassment', 'hatred', 'selfHarm', 'sexual', 'violence'];

const badBodies: [name: string, body: string, field: string | null][] = [
  ['no input', '{}', 'input'],
  ['an empty input', '{"input":""}', 'input'],
  ['an input that is null', '{"input":null}', 'input'],
  ['an input that is a number', '{"input":7}', 'input'],
  ['an input that is a list', '{"input":["a"]}', 'input'],
  ['an unknown field', '{"input":"a","model":"x"}', 'model'],
  ['a list', '[]', null],
  ['null', 'null', null],
  ['broken JSON', '{"input":', null],
];

describe.each(ways)('%s', (way) => {
  test('returns scores, thresholds and passages for a text', async () => {
    const input = 'It was a calm day. Watch naked girls get fucked in free porn videos. Then we had tea.';
    const answer = await host.send(way, check(input));
    const body = JSON.parse(answer.text) as Record<string, unknown>;
    expect(answer.status).toBe(200);
    const { id, model, results } = moderationAnswer.strict().parse(body);
    expect([id, model, results.length]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^on-device\//),
      1,
    ]);
    const [result] = results;
    expect(Object.keys(result!).toSorted()).toEqual([
      'categories',
      'categoryScores',
      'flagged',
      'highlights',
      'thresholds',
    ]);
    for (const name of ['categories', 'categoryScores', 'thresholds'] as const) {
      expect(Object.keys(result![name]).toSorted()).toEqual(categoryKeys);
    }
    expect([result!.flagged, result!.categories.sexual]).toEqual([true, true]);
    const passages = result!.highlights.map(({ start, end }) => input.slice(start, end));
    expect(passages).toContain('Watch naked girls get fucked in free porn videos.');
  });

  test('a harmless text is not flagged and has no passages', async () => {
    const { results } = JSON.parse((await host.send(way, check('How do I terminate a Python process?'))).text);
    expect(results).toEqual([expect.objectContaining({ flagged: false, highlights: [] })]);
  });

  test.each(badBodies)('rejects %s with 400', async (_, body, field) => {
    const error = judgeError(await host.send(way, post(body)), 400);
    if (field !== null) expect(error.details.map((detail) => detail.field)).toContain(field);
  });

  test('accepts 1 MB and rejects one more byte with 413, counted in UTF-8', async () => {
    const megabyte = 1_048_576;
    const taken = await host.send(way, check('a'.repeat(megabyte)));
    const takenWide = await host.send(way, check('é'.repeat(megabyte / 2)));
    expect([taken.status, takenWide.status]).toEqual([200, 200]);
    judgeError(await host.send(way, check('a'.repeat(megabyte + 1))), 413);
    judgeError(await host.send(way, check('é'.repeat(megabyte / 2 + 1))), 413);
  });

  test.each(['text/plain', 'application/xml'])('the media type %s is 415', async (type) => {
    judgeError(await host.send(way, post('{"input":"a"}', { 'content-type': type })), 415);
  });

  test('rejects no key with 401, a missing scope with 403, another method with 405', async () => {
    judgeError(await host.send(way, post('{"input":"a"}', { 'x-hl-api-key': 'ts_wrong' })), 401);
    const key = host.issueKey({ scopes: ['audit', 'manage'] });
    judgeError(await host.send(way, post('{"input":"a"}', { 'x-hl-api-key': key })), 403);
    judgeError(await host.send(way, { path: '/moderations', headers: { 'x-hl-api-key': host.key } }), 405);
  });

  test('the chosen classifier without a key is 503 and says where to set it', async () => {
    const classifier = { kind: 'open-ai', model: 'omni-moderation-latest' } as const;
    host.host.storage.settings.update({ moderation: { ...defaultModerationSettings, classifier } });
    const error = judgeError(await host.send(way, check('a')), 503);
    expect([error.code, error.message]).toEqual(['provider_not_configured', expect.stringContaining('Settings')]);
  });

  test.each(['😀🔪', 'مرحبا', '\u200B', ' ', '\u0000', '\uD83D', 'k1ll'])('%j gets an answer', async (input) => {
    expect((await host.send(way, check(input))).status).toBe(200);
  });
});

test("a streaming run isn't delayed while a large text is checked", async () => {
  const large = Array.from({ length: 20_000 }, (_, index) => `Line ${index} tells of day ${index * 7}.`).join(' ');
  let isChecked = false;
  const checking = host.send('HTTP/1.1', check(large)).finally(() => (isChecked = true));
  host.provider.answerWith((call) => call.chatStream(['a', 'b', 'c']));
  let runs = 0;
  while (!isChecked && runs < 5) {
    expect((await host.send('HTTP/1.1', completionCall(host, '/api/completions/sse'))).status).toBe(200);
    runs += 1;
  }
  // Whole runs went through while the check was under way: it holds up nobody.
  expect([runs, isChecked]).toEqual([5, false]);
  expect((await checking).status).toBe(200);
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
