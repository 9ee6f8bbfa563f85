import { describe, expect, test } from 'vitest';
import {
  readConfiguration,
  readOtherParameters,
  readParameter,
  readStops,
  unsupportedReason,
  writeParameters,
  writeStops,
} from '../../../../renderer/drafts/parameter-model.ts';
import { testModel } from '../screens/playground/test-model.ts';

describe('one field', () => {
  test.each([
    ['temperature', '0.2', { value: 0.2 }],
    ['temperature', '0,2', { value: 0.2 }],
    ['temperature', '3', { problem: 'Must be 2 or less' }],
    ['temperature', 'warm', { problem: 'Enter a number' }],
    ['top_p', '0,125', { value: 0.125 }],
    ['max_tokens', '2,000', { value: 2000 }],
    ['max_tokens', '10,000,000', { value: 10_000_000 }],
    ['max_tokens', '120.5', { problem: 'Enter a whole number' }],
    ['max_tokens', '0', { problem: 'Must be 1 or more' }],
    ['seed', '  ', null],
    ['seed', '-7', { value: -7 }],
    ['stop', String.raw`\n`, { value: ['\n'] }],
    ['stop', '\\ ', { value: [' '] }],
    ['stop', ', ,', { problem: 'Enter a stop sequence' }],
    ['reasoning_effort', 'low', { value: 'low' }],
    ['response_format', 'json_object', { value: { type: 'json_object' } }],
    ['response_format', '[1]', { problem: 'The schema must be a JSON object' }],
  ] as const)('%s with the text %j', (name, text, expected) => {
    expect(readParameter(name, text)).toEqual(expected);
  });

  test('a bare schema gets a name, one with a name is sent unchanged', () => {
    expect(readParameter('response_format', '{"type": "object"}')).toEqual({
      value: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    });
    const named = { name: 'reply', strict: true, schema: { type: 'object' } };
    expect(readParameter('response_format', JSON.stringify(named))).toEqual({
      value: { type: 'json_schema', json_schema: named },
    });
  });
});

test.each([
  [['\n']],
  [['END', 'a, b', '\t', 'back\\slash', '\r\n']],
  [['"""']],
  [[' Human:', ' AI:', '  ', 'END ']],
  [[' ']],
])('stops %j are the same after writing and reading', (stops) => expect(readStops(writeStops(stops))).toEqual(stops));

test('extra parameters must be an object without names of other fields and of the service', () => {
  expect(readOtherParameters('')).toBe(null);
  expect(readOtherParameters('{"min_p": 0.05}')).toEqual({ value: { min_p: 0.05 } });
  expect(readOtherParameters('[1]')).toEqual({ problem: 'Must be a JSON object, such as {"min_p": 0.05}' });
  expect(readOtherParameters('{"messages": []}')).toEqual({
    problem: "messages is set by Touchstone and can't be configured",
  });
  expect(readOtherParameters('{"seed": 1}')).toEqual({ problem: 'Set seed in its own field above' });
});

test('a run sends supported parameters, and reports invalid fields', () => {
  const model = testModel({
    parameters: [{ name: 'temperature', isAccepted: false, reason: 'it is fixed at 1', values: null }],
  });
  const draft = { parameters: { temperature: '0.3', max_tokens: '80', seed: 'x' }, otherParameters: '{"min_p": 0.1}' };
  expect(readConfiguration(draft, model)).toEqual({
    configuration: { max_tokens: 80, min_p: 0.1 },
    problems: [{ name: 'seed', problem: 'Enter a number' }],
  });
  expect(unsupportedReason('temperature', model)).toBe('It is fixed at 1');
  expect(unsupportedReason('top_p', model)).toBe(null);
});

test('a configuration fills the fields that send it again, without what the service sets', () => {
  const configuration = {
    temperature: 0.2,
    stop: ['\n', 'END'],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
    min_p: 0.1,
  };
  const written = writeParameters({ ...configuration, store: false, stream: true });
  expect(readConfiguration(written, null)).toEqual({ configuration, problems: [] });
});
