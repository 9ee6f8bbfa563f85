// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fc } from '../support/fast-check.ts';
import { judgeArray, judgeError, judgeEvents, judgeSync } from '../support/specification-judge.ts';
import { minimalRequest, startTestHost, type TestHost, type Way } from '../support/test-host.ts';
import { longTest, patience } from '../support/patience.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.provider.answerWith((call) => {
    if (call.method === 'GET') return call.models([]);
    if (call.body['stream'] === true) return call.chatStream(['Hello ', 'there']);
    return call.chatAnswer({ content: 'Hello there' });
  });
});
afterAll(() => host.close());

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '{{',
    '}}',
    '{{#each a}}',
    '{{/each}}',
    '{{a.b}}',
    '{{{x}}}',
    '__proto__',
    'constructor',
    'toString',
    '\ud800',
    '\u0000',
    '/etc/passwd',
    '-1',
    'NaN',
  ),
);
const anything = fc.oneof(
  { weight: 2, arbitrary: word },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 0, -0, 1e308, -1e-308, 2 ** 53, [], {}, [[[[]]]]) },
);
const template = fc.array(word, { maxLength: 8 }).map((parts) => parts.join(''));
const uuid = fc.oneof(fc.uuid(), word);

/** Requests that are nearly right: each field is mostly well formed, sometimes anything at all. */
function mostly<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary }, { weight: 1, arbitrary: anything });
}
const request = fc.record(
  {
    promptText: mostly(template),
    systemMessage: mostly(word),
    aiSystem: mostly(fc.constantFrom('OpenAiCompatible', 'OpenAiCompatible', 'ServiceAi', 'OpenAi', 'Cohere')),
    model: mostly(
      fc.constantFrom('scripted/model', 'scripted/model', 'scripted/', 'nowhere/x', 'gpt-4o', 'hl-gpt-4o-mini'),
    ),
    configuration: mostly(
      fc.dictionary(
        fc.oneof(
          fc.constantFrom(
            'temperature',
            'max_tokens',
            'stop',
            'top_p',
            'seed',
            'response_format',
            'reasoning_effort',
            'stream',
            'tools',
            '__proto__',
          ),
          word,
        ),
        anything,
        { maxKeys: 4 },
      ),
    ),
    replacements: mostly(fc.dictionary(word, anything, { maxKeys: 4 })),
    dataspaceIds: mostly(fc.array(uuid, { maxLength: 3 })),
    metadata: mostly(fc.record({ conversationId: uuid, workspaceId: uuid, other: anything }, { requiredKeys: [] })),
    unknown: anything,
  },
  { requiredKeys: ['promptText', 'aiSystem', 'model'], noNullPrototype: true },
);

/** Mostly requests that get far: only one or two fields differ from a good one. */
const changed = fc
  .tuple(request, fc.constantFrom('promptText', 'configuration', 'replacements', 'metadata', 'systemMessage'))
  .map(([one, field]) => ({ ...minimalRequest, [field]: one[field as keyof typeof one] }));
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  request.chain((one) => {
    const text = JSON.stringify(one);
    return fc
      .tuple(fc.nat(text.length), word)
      .map(([at, extra]) => Buffer.from(text.slice(0, at) + extra + text.slice(at + 1)));
  }),
  fc.constantFrom(
    Buffer.alloc(0),
    Buffer.from('\ufeff{}'),
    Buffer.from('['.repeat(100_000)),
    Buffer.from('{"a":'.repeat(50_000)),
  ),
);
const body = fc.oneof(
  { weight: 3, arbitrary: request.map((one) => Buffer.from(JSON.stringify(one))) },
  { weight: 3, arbitrary: changed.map((one) => Buffer.from(JSON.stringify(one))) },
  { weight: 2, arbitrary: garbage },
);
const path = fc.constantFrom(
  '/api/completions',
  '/api/completions?stream=true',
  '/api/completions?stream=%00',
  '/api/completions/sync',
  '/api/completions/stream',
  '/api/completions/sse',
);

/** Ends a test that hangs with the body that it hangs on, long before the test's own limit would. */
const longestAnswer = patience.timeout;

async function answerIsAsDecided(way: Way, address: string, bytes: Buffer): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${host.key}` };
  const sent = host.send(way, { method: 'POST', path: address, headers, body: bytes });
  const answer = await Promise.race([
    sent,
    new Promise<never>((_, reject) => {
      AbortSignal.timeout(longestAnswer).addEventListener('abort', () => reject(new Error('No answer: it hangs')));
    }),
  ]);
  if (answer.status !== 200) judgeError(answer, answer.status);
  else if (answer.headers['content-type'] === 'text/event-stream') judgeEvents(answer);
  else if (answer.text.startsWith('[')) judgeArray(answer);
  else judgeSync(answer);
  const own = answer.text.replaceAll(/"(promptText|field)":"(\\.|[^"\\])*"/g, '');
  expect(own).not.toContain(process.cwd());
  expect(own).not.toContain(host.key);
  expect([200, 400, 403, 409, 413, 503]).toContain(answer.status);
  return answer.status;
}

test.each([
  ['in memory', 7000],
  ['HTTP/1.1', 2000],
  ['HTTP/2', 1000],
] as const)(
  '%s: none of %i random bodies is a failure of the service, hangs or leaks',
  async (way, numRuns) => {
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(path, body, async (address, bytes) => {
        const status = await answerIsAsDecided(way, address, bytes);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
      { numRuns, endOnFailure: true },
    );
    // Many of them must have got through to the provider, or the test would try the first check only.
    expect(statuses.get(200)).toBeGreaterThan(numRuns / 20);
    expect(host.log).toEqual([]);
  },
  longTest.timeout,
);
