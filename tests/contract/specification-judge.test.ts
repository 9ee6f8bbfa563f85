import { expect, test } from 'vitest';
import {
  judgeArray,
  judgeError,
  judgeEvents,
  judgeSync,
  SpecificationViolation,
} from '../support/specification-judge.ts';

const id = '0d2c6f3e-7f5e-4b66-9a0e-6b8f7a1c2d3e';
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const runHeaders = { 'x-request-id': id, 'x-credits-consumed': '1', 'x-served-by': 'OpenAi/gpt-4o' };
const json = { ...runHeaders, 'content-type': 'application/json' };
const events = { ...runHeaders, 'content-type': 'text/event-stream' };

const syncBody = {
  choices: [{ finish_reason: 'Stop', index: 0, message: { role: 'Assistant', content: 'Hi' } }],
  messageId: id,
  runId: id,
  usage,
};
const chunk = { choice: { index: 0, message: { role: 'assistant', content: 'Hi' } }, messageId: id, runId: id };
const last = {
  choice: { index: 0, finish_reason: 'Stop', message: { role: 'assistant' } },
  messageId: id,
  runId: id,
  usage,
};
const failure = { error: { code: 'provider_failed', message: 'Try again.', details: [], requestId: id } };

const sync = (body: unknown, headers: object = json) =>
  judgeSync({ status: 200, headers: { ...headers }, text: JSON.stringify(body) });
const stream = (text: string, headers: object = events) => judgeEvents({ status: 200, headers: { ...headers }, text });
const array = (values: unknown) => judgeArray({ status: 200, headers: json, text: JSON.stringify(values) });
const asEvents = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');

test('accepts the examples of the specification', () => {
  expect([sync(syncBody).content, stream(asEvents(chunk, last)).content, array([chunk, failure]).error?.code]).toEqual([
    'Hi',
    'Hi',
    'provider_failed',
  ]);
});

const wrong: [name: string, judge: () => unknown][] = [
  [
    'lower-case role in a whole answer',
    () => sync({ ...syncBody, choices: [{ ...syncBody.choices[0], message: { role: 'assistant', content: '' } }] }),
  ],
  [
    'lower-case finish_reason',
    () => sync({ ...syncBody, choices: [{ ...syncBody.choices[0], finish_reason: 'stop' }] }),
  ],
  ['an additional field', () => sync({ ...syncBody, id })],
  ['no usage', () => sync({ ...syncBody, usage: undefined })],
  ['a usage that is no number', () => sync({ ...syncBody, usage: { ...usage, total_tokens: '3' } })],
  ['an empty list of warnings', () => sync({ ...syncBody, warnings: [] })],
  ['a run id that is no uuid', () => sync({ ...syncBody, runId: 'run_1' })],
  ['no x-request-id', () => sync(syncBody, { ...json, 'x-request-id': undefined })],
  ['no x-served-by', () => sync(syncBody, { ...json, 'x-served-by': undefined })],
  ['another media type', () => sync(syncBody, { ...json, 'content-type': 'text/plain' })],
  ['choices in a chunk', () => stream(asEvents({ ...chunk, choice: undefined, choices: [chunk.choice] }, last))],
  [
    'upper-case role in a chunk',
    () => stream(asEvents({ ...chunk, choice: { index: 0, message: { role: 'Assistant', content: 'x' } } }, last)),
  ],
  [
    'content in the last chunk',
    () => stream(asEvents(chunk, { ...last, choice: { ...last.choice, message: { role: 'assistant', content: '' } } })),
  ],
  [
    'finish_reason before the last chunk',
    () => stream(asEvents({ ...chunk, choice: { ...chunk.choice, finish_reason: 'Stop' } }, last)),
  ],
  ['no last chunk', () => stream(asEvents(chunk))],
  ['a chunk after the last', () => stream(asEvents(chunk, last, chunk))],
  ['a chunk after the error', () => stream(asEvents(failure, chunk))],
  ['ids that change', () => stream(asEvents(chunk, { ...last, runId: '1d2c6f3e-7f5e-4b66-9a0e-6b8f7a1c2d3e' }))],
  ['an event line', () => stream(`event: message\n${asEvents(chunk, last)}`)],
  ['[DONE]', () => stream(`${asEvents(chunk, last)}data: [DONE]\n\n`)],
  ['a comment line', () => stream(`: hello\n\n${asEvents(chunk, last)}`)],
  ['no space after data:', () => stream(asEvents(chunk, last).replaceAll('data: ', 'data:'))],
  ['one line end between events', () => stream(asEvents(chunk, last).replaceAll('\n\n', '\n'))],
  [
    'an array that is not closed',
    () => judgeArray({ status: 200, headers: json, text: JSON.stringify([chunk, last]).slice(0, -1) }),
  ],
  ['an object in place of an array', () => array(chunk)],
  ['an empty array', () => array([])],
  ['a path in a message', () => array([{ error: { ...failure.error, message: 'ENOENT /home/me/x.ts' } }])],
  ['a stack in a message', () => array([{ error: { ...failure.error, message: 'x\n    at run (run.ts:1:2)' } }])],
  ['an error without details', () => array([{ error: { ...failure.error, details: undefined } }])],
];

test.each(wrong)('rejects %s', (_, judge) => {
  expect(judge).toThrow(SpecificationViolation);
});

test('rejects an error response of another status or another request', () => {
  const answer = { status: 502, headers: json, text: JSON.stringify(failure) };
  expect(judgeError(answer, 502).code).toBe('provider_failed');
  expect(() => judgeError(answer, 503)).toThrow(SpecificationViolation);
  expect(() =>
    judgeError({ ...answer, headers: { ...json, 'x-request-id': '1d2c6f3e-7f5e-4b66-9a0e-6b8f7a1c2d3e' } }, 502),
  ).toThrow(SpecificationViolation);
});
