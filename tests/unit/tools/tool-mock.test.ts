import { describe, expect, test } from 'vitest';
import type { Message } from '../../../shared/contract/messages.ts';
import { toolMock, type ToolMock } from '../../../shared/contract/tools.ts';
import { mockResult } from '../../../shared/tool-mock.ts';

const call = (args: unknown) => ({ name: 'find_order', arguments: JSON.stringify(args) });

test('a fixed mock returns its content for every call', () => {
  const mock: ToolMock = { kind: 'fixed', content: 'down', isError: true };
  expect(mockResult(mock, { name: 'find_order', arguments: '{"half' })).toEqual({ content: 'down', isError: true });
});

describe('a look-up', () => {
  const mock: ToolMock = {
    kind: 'lookUp',
    entries: [
      { arguments: { order_id: 'NW-1', address: { city: 'Kiel' } }, content: 'nested', isError: false },
      { arguments: { order_id: 'NW-1' }, content: 'first', isError: false },
      { arguments: { include: ['items', 'parcels'] }, content: 'list', isError: true },
    ],
    otherwise: null,
  };

  test.each([
    [{ order_id: 'NW-1' }, 'first'],
    [{ order_id: 'NW-1', since: '2026-01-01' }, 'first'],
    [{ order_id: 'NW-1', address: { city: 'Kiel', zip: 24103 } }, 'nested'],
    [{ include: ['items', 'parcels'], order_id: 'NW-2' }, 'list'],
  ])('matches %j with the first entry whose arguments it contains', (args, content) => {
    expect(mockResult(mock, call(args))?.content).toBe(content);
  });

  test.each([
    [{ order_id: 'nw-1' }],
    [{ include: ['parcels', 'items'] }],
    [{ include: ['items'] }],
    [{}],
    [[]],
    [null],
  ])('has no result for %j', (args) => {
    expect(mockResult(mock, call(args))).toBeNull();
    expect(mockResult({ ...mock, otherwise: 'none' }, call(args))).toEqual({ content: 'none', isError: false });
  });

  test('has no result for arguments that are not JSON, and reads absent arguments as none', () => {
    const any: ToolMock = { ...mock, entries: [{ arguments: {}, content: 'any', isError: false }] };
    expect(mockResult(any, { name: 'find_order', arguments: '{"order' })).toBeNull();
    expect(mockResult(any, { name: 'find_order', arguments: '' })?.content).toBe('any');
  });

  test('compares arguments that are nested very deeply', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const entries = [{ arguments: { list: JSON.parse(deep) as unknown }, content: 'deep', isError: false }];
    expect(mockResult({ ...mock, entries }, { name: 'x', arguments: `{"list":${deep}}` })).toBeNull();
  });
});

describe('a recorded run', () => {
  const mock: ToolMock = { kind: 'recorded', runId: '8d0c0c6e-5e0b-4c5e-9d0c-0c6e5e0b4c5e' };
  const step = (id: string, name: string, args: string, content: string): Message[] => [
    { role: 'assistant', content: [{ type: 'toolCall', id, name, arguments: args }] },
    { role: 'tool', content: [{ type: 'toolResult', toolCallId: id, content, isError: false }] },
  ];
  const first = step('a', 'find_order', '{"order_id": "NW-1", "page": 1}', 'one');

  test('returns the only result of the tool for every call', () => {
    const messages = [...first, ...step('b', 'weather', '{}', 'rain')];
    expect(mockResult(mock, call({ order_id: 'NW-9' }), messages)).toEqual({ content: 'one', isError: false });
  });

  test('returns the last result with the same arguments if there are several', () => {
    const messages = [...first, ...step('b', 'find_order', '{"order_id":"NW-2"}', 'two')];
    expect(mockResult(mock, call({ page: 1, order_id: 'NW-1' }), messages)?.content).toBe('one');
    expect(mockResult(mock, call({ order_id: 'NW-2' }), messages)?.content).toBe('two');
    expect(mockResult(mock, call({ order_id: 'NW-3' }), messages)).toBeNull();
  });

  test('has no result without the run', () => {
    expect(mockResult(mock, call({}))).toBeNull();
  });
});

test('the schema of a mock fills in what is absent and limits its size', () => {
  expect(toolMock.parse({ kind: 'fixed', content: 'x' })).toEqual({ kind: 'fixed', content: 'x', isError: false });
  expect(toolMock.parse({ kind: 'lookUp', entries: [{ arguments: {}, content: 'x' }] })).toEqual({
    kind: 'lookUp',
    entries: [{ arguments: {}, content: 'x', isError: false }],
    otherwise: null,
  });
  const entry = { arguments: {}, content: 'x'.repeat(600_000) };
  const read = toolMock.safeParse({ kind: 'lookUp', entries: [entry, entry] });
  expect(read.error?.issues).toMatchObject([{ path: ['entries'], message: 'are longer than 1 MB in all' }]);
});
