// @module-tag slow
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fc } from '../support/fast-check.ts';
import { callJson } from '../support/json-call.ts';
import { judgeError, judgeEvents } from '../support/specification-judge.ts';
import { minimalRequest, startTestHost, type TestHost, type Way } from '../support/test-host.ts';
import { longTest } from '../support/patience.ts';

let host: TestHost;
/** What is there before the first body comes. */
let ids: { prompt: string; version: string; otherVersion: string; agent: string; conversation: string };

const scripted = { aiSystem: minimalRequest.aiSystem, model: minimalRequest.model };

beforeAll(async () => {
  host = await startTestHost();
  host.provider.answerWith((call) => {
    if (call.method === 'GET') return call.models([]);
    if (call.body['stream'] === true) return call.chatStream(['Hello ', 'there']);
    return call.chatAnswer({ content: 'Hello there' });
  });
  const make = async (path: string, body: unknown) => (await callJson(host, 'in memory', 'POST', path, { body })).body;
  const prompt = await make('/prompts', { name: 'P', promptText: 'Hi {{a}}', ...scripted });
  const other = await make('/prompts', { name: 'Q', promptText: 'Hi', ...scripted });
  const agent = await make('/agents', { name: 'A', ...scripted });
  const { conversationId } = await make(`/agents/${agent.id}/run`, { message: 'Hi' });
  ids = {
    prompt: prompt.id,
    version: prompt.latestVersionId,
    otherVersion: other.latestVersionId,
    agent: agent.id,
    conversation: conversationId,
  };
});
afterAll(() => host.close());

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    '{{',
    '}}',
    '{{a}}',
    '{{#if a}}',
    '{{/if}}',
    '__proto__',
    'constructor',
    '\ud800',
    '\u0000',
    'NaN',
  ),
);
const anything = fc.oneof(
  { weight: 2, arbitrary: word },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 0, 1e308, 2 ** 53, [], {}, [[[[]]]]) },
);

function mostly<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 14, arbitrary }, { weight: 1, arbitrary: anything });
}

/** A place for an id that is only known when the test runs. */
const idOf = (name: keyof typeof ids) => fc.constant(`<${name}>`);
const strange = fc.constantFrom(randomUUID(), 'x', '00000000-0000-0000-0000-000000000000', '%00', '..');
const system = mostly(fc.constantFrom('OpenAiCompatible', 'OpenAiCompatible', 'ServiceAi', 'OpenAi', null));
const model = mostly(
  fc.constantFrom('scripted/model', 'scripted/model', 'gpt-4o', 'hl-gpt-4o-mini', 'nowhere/x', null),
);
const variable = fc.record(
  { name: mostly(word), description: mostly(word), defaultValue: mostly(word), sampleValue: mostly(word) },
  { requiredKeys: ['name'], noNullPrototype: true },
);

const fields = {
  name: mostly(word),
  folder: mostly(word),
  tags: mostly(fc.array(mostly(word), { maxLength: 3 })),
  description: mostly(word),
  promptText: mostly(fc.array(word, { maxLength: 5 }).map((parts) => parts.join(''))),
  systemMessage: mostly(word),
  aiSystem: system,
  model,
  configuration: mostly(fc.dictionary(fc.constantFrom('temperature', 'seed', 'stream', 'x', '__proto__'), anything)),
  variables: mostly(fc.array(mostly(variable), { maxLength: 3 })),
  note: mostly(word),
};
const { promptText, systemMessage, aiSystem, configuration, variables, note, ...store } = fields;
const version = { promptText, systemMessage, aiSystem, model, configuration, variables, note };

type Shape = Record<string, fc.Arbitrary<unknown>>;
const some = (shape: Shape, required: string[] = []) =>
  fc.record({ ...shape, [`x${required.length}`]: anything }, { requiredKeys: required, noNullPrototype: true });
/** Mostly the known fields alone: an unknown one ends every other check. */
const of = (shape: Shape, required: string[] = []) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record(shape, { requiredKeys: required, noNullPrototype: true }) },
    { weight: 1, arbitrary: some(shape, required) },
    { weight: 1, arbitrary: anything },
  );

const promptId = mostly(idOf('prompt'));
const replacements = mostly(fc.dictionary(word, mostly(word), { maxKeys: 3 }));
const versionId = mostly(fc.constantFrom('<version>', '<version>', '<otherVersion>', null));
const message = mostly(word);
const labelName = fc.oneof(fc.constantFrom('production', 'staging', 'latest', '..'), word);
const conversationId = mostly(fc.constantFrom('<conversation>', null, randomUUID()));

const call = fc.oneof(
  fc.tuple(fc.constant('POST /prompts'), of(fields, ['name', 'promptText'])),
  fc.tuple(fc.constant('POST /prompts'), of({ ...store, promptText }, ['name', 'promptText'])),
  fc.tuple(fc.constant('PATCH /prompts/<prompt>'), of(store)),
  fc.tuple(fc.constant('POST /prompts/<prompt>/versions'), of(version, ['promptText'])),
  fc.tuple(fc.constant('POST /prompts/<prompt>/versions'), of({ promptText, systemMessage, note }, ['promptText'])),
  fc.tuple(fc.constant('POST /prompts/run'), of({ promptId, promptVersionId: versionId, replacements }, ['promptId'])),
  fc.tuple(fc.constant('POST /prompts/run'), of({ promptId, label: mostly(labelName), replacements }, ['promptId'])),
  fc.tuple(
    labelName.map((label) => `PUT /prompts/<prompt>/labels/${encodeURIComponent(label.toWellFormed())}`),
    of({ promptVersionId: versionId, previousVersionId: versionId }, ['promptVersionId']),
  ),
  fc.tuple(
    labelName.map((label) => `DELETE /prompts/<prompt>/labels/${encodeURIComponent(label.toWellFormed())}`),
    fc.constant(undefined),
  ),
  fc.tuple(
    fc.constant('POST /agents'),
    of({ name: fields.name, model, aiSystem: system, prompt: mostly(word) }, ['name']),
  ),
  fc.tuple(
    fc.constant('POST /v1/agents'),
    of({ name: fields.name, model, prompt: mostly(word) }, ['name', 'model', 'prompt']),
  ),
  fc.tuple(fc.constant('PATCH /agents/<agent>'), of({ name: fields.name, prompt: mostly(word) })),
  fc.tuple(fc.constant('POST /agents/<agent>/run'), of({ message, conversationId }, ['message'])),
  fc.tuple(
    strange.map((id) => `PATCH /agents/${id}`),
    of({ name: fields.name }),
  ),
  fc.tuple(
    strange.map((id) => `POST /agents/${id}/run`),
    of({ message }),
  ),
  fc.tuple(
    fc.tuple(strange, fc.constantFrom('', '/versions')).map(([id, rest]) => `PATCH /prompts/${id}${rest}`),
    of(store),
  ),
);

/** Lists and reads, with queries that are anything. */
const reading = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        '/prompts',
        '/agents',
        '/prompts/<prompt>/versions',
        '/prompts/<prompt>/usage',
        '/prompts/<prompt>/label-changes',
        '/prompts/<prompt>/labels/production',
        '/prompts/outline',
        '/prompts/<prompt>',
        '/agents/<agent>',
      ),
      fc.constantFrom('pageSize', 'continuationToken', 'search', 'searchIn', 'folder', 'tags', 'x', ''),
      fc.oneof(word, fc.integer({ min: -5, max: 120 }).map(String), fc.base64String()),
    )
    .map(([path, name, value]) => `GET ${path}?${name}=${encodeURIComponent(value.toWellFormed())}`),
  fc.tuple(strange, strange).map(([id, other]) => `GET /prompts/${id}/versions/${other}`),
);

const known = (text: string) => text.replaceAll(/<(\w+)>/g, (_, name: keyof typeof ids) => ids[name]);

async function answerIsAsDecided(way: Way, address: string, body: unknown, accept: string): Promise<number> {
  const [method = '', path = ''] = known(address).split(' ');
  const sent = body === undefined ? undefined : (JSON.parse(known(JSON.stringify(body))) as unknown);
  const answer = await callJson(host, way, method, path, { body: sent, headers: { accept } });
  expect([200, 201, 204, 400, 404, 405, 409, 503]).toContain(answer.status);
  if (answer.status >= 400) {
    const { message: said } = judgeError(answer, answer.status);
    expect(said).not.toContain(process.cwd());
  } else if (answer.headers['content-type'] === 'text/event-stream') judgeEvents(answer);
  return answer.status;
}

test.each([
  ['in memory', 4000, 8],
  ['HTTP/1.1', 1000, 7],
  ['HTTP/2', 1000, 7],
] as const)(
  '%s: none of %i random calls is a failure of the service',
  async (way, numRuns, kinds) => {
    const statuses = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 5, arbitrary: call }, { weight: 1, arbitrary: fc.tuple(reading, fc.constant(undefined)) }),
        fc.constantFrom('*/*', 'text/event-stream'),
        async ([address, body], accept) => {
          const status = await answerIsAsDecided(way, address, body, accept);
          const key = `${address.split('?')[0]} ${status}`;
          statuses.set(key, (statuses.get(key) ?? 0) + 1);
        },
      ),
      { numRuns, endOnFailure: true },
    );
    // Some of every kind must have been good, or the test would try the first check only. Of the rarest kind a good one comes
    // once in 200 calls: among 1000 there may be none.
    const reached = [
      'POST /prompts 201',
      'PATCH /prompts/<prompt> 200',
      'POST /prompts/<prompt>/versions 201',
      'POST /prompts/run 200',
      'POST /agents 201',
      'POST /v1/agents 201',
      'PATCH /agents/<agent> 200',
      'POST /agents/<agent>/run 200',
    ];
    expect(reached.filter((one) => statuses.has(one)).length).toBeGreaterThanOrEqual(kinds);
    expect(host.log).toEqual([]);
  },
  longTest.timeout,
);
