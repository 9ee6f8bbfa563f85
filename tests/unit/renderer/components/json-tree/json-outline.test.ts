import { describe, expect, it } from 'vitest';
import {
  JsonOutline,
  keyOf,
  nodeAt,
  readString,
  visibleRows,
} from '../../../../../renderer/components/json-tree/json-outline.ts';
import { rowHeights } from '../../../../../renderer/components/json-tree/long-rows.tsx';
import { fc } from '../../../../support/fast-check.ts';

function read(text: string): JsonOutline {
  const outline = new JsonOutline();
  outline.read(text, true);
  return outline;
}

/** The value that the nodes stand for. */
function valueOf(outline: JsonOutline, index = 0): unknown {
  const node = outline.nodes[index]!;
  if (node.kind === 'text') return readString(outline.text, node.start, node.end);
  if (node.kind !== 'object' && node.kind !== 'list') return JSON.parse(outline.text.slice(node.start, node.end!));
  const inner: [string, unknown][] = [];
  for (let child = index + 1; child < node.next!; child = outline.nodes[child]!.next!) {
    inner.push([keyOf(outline, outline.nodes[child]!)!, valueOf(outline, child)]);
  }
  if (node.kind === 'list') return inner.map(([, value]) => value);
  return Object.fromEntries(inner);
}

describe('the outline of a JSON text', () => {
  it('contains every value of any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const outline = read(JSON.stringify(value, null, indent));
        expect(outline.fault).toBeNull();
        expect(valueOf(outline)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is the same however the text is split', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat(50), { maxLength: 20 }), (value, cuts) => {
        const text = JSON.stringify(value, null, 1);
        const outline = new JsonOutline();
        let length = 0;
        for (const cut of cuts) {
          length = Math.min(text.length, length + cut);
          outline.read(text.slice(0, length), false);
          expect(outline.fault).toBeNull();
        }
        outline.read(text, true);
        expect(outline).toEqual(read(text));
      }),
    );
  });

  it('agrees with JSON.parse about any text', () => {
    const characters = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'null',
      ' ',
      '\n',
      '\\',
      '\\u00e9',
      'x',
    );
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let isValid = true;
        try {
          JSON.parse(text);
        } catch {
          isValid = false;
        }
        expect(read(text).isComplete, text).toBe(isValid);
      }),
      { numRuns: 2000 },
    );
  });

  it('shows a growing string without an incomplete escape', () => {
    const outline = new JsonOutline();
    outline.read('{"a": "x\\u00e', false);
    const node = outline.nodes[1]!;
    expect([node.end, readString(outline.text, node.start, node.end)]).toEqual([null, 'x']);
    outline.read('{"a": "x\\u00e9", "b', false);
    expect(readString(outline.text, node.start, node.end)).toBe('xé');
    expect(outline.nodes).toHaveLength(2);
  });

  it('keeps numbers in their original format', () => {
    const outline = read('[12345678901234567890, 1.00, 1e400]');
    expect(outline.nodes.slice(1).map(({ start, end }) => outline.text.slice(start, end!))).toEqual([
      '12345678901234567890',
      '1.00',
      '1e400',
    ]);
  });

  it.each([
    ['{"a": 1', 'ends before its JSON does', 7],
    ['```json\n{}', 'is not valid JSON', 0],
    ['{} and more', 'has text after its JSON', 3],
    ['["a\nb"]', 'has a line break or another control character in a string', 3],
    ['', 'ends before its JSON does', 0],
  ])('names the fault of %j', (text, reason, offset) => {
    expect(read(text).fault).toEqual({ reason, offset });
  });

  it('reads 4 MB and 100,000 values, and stops at its limits', () => {
    const large = JSON.stringify(
      Array.from({ length: 50_000 }, (_, index) => ({ text: `${index} ${'word '.repeat(14)}` })),
    );
    expect(large.length).toBeGreaterThan(4_000_000);
    const outline = read(large);
    expect(outline.fault).toBeNull();
    expect(outline.nodes).toHaveLength(100_001);
    const open = visibleRows(outline.nodes, outline.nodes.length, new Set());
    expect([open.count, open.nodeAt(7), open.rowOf(7), open.rowOf(100_001)]).toEqual([100_001, 7, 7, -1]);
    const closed = visibleRows(outline.nodes, outline.nodes.length, new Set([0]));
    expect([closed.count, closed.nodeAt(0), closed.rowOf(0), closed.rowOf(7)]).toEqual([1, 0, 0, -1]);
    expect(read('['.repeat(10_000) + ']'.repeat(10_000)).fault?.reason).toBe('is nested deeper than 500 levels');
    expect(read(`[${'1,'.repeat(300_000)}1]`).fault?.reason).toBe('has more than 250,000 values');
  });

  it('finds the node of a pointer, or its innermost existing ancestor', () => {
    const outline = read('{"a": [{"b/c": 1}, 2], "d": null}');
    const at = (pointer: string) => outline.text.slice(outline.nodes[nodeAt(outline, pointer)]!.start).slice(0, 5);
    expect(at('/a/0/b~1c')).toBe('1}, 2');
    expect(at('/a/1')).toBe('2], "');
    expect(at('/a/7/x')).toBe('[{"b/');
    expect(at('/missing')).toBe('{"a":');
    expect(at('')).toBe('{"a":');
  });
});

it('rows with errors are taller, and every offset belongs to one row', () => {
  const outline = new JsonOutline();
  outline.read(JSON.stringify({ list: [1, 2, 3, [4, 5], 6] }), true);
  const errors = new Map([
    [6, [1]],
    [3, [1, 2]],
    [0, [1]],
  ]);
  for (const closed of [new Set<number>(), new Set([5])]) {
    const rows = visibleRows(outline.nodes, outline.nodes.length, closed);
    const { above, rowAt } = rowHeights(rows, errors);
    expect(above(rows.count)).toBe(22 * rows.count + 20 * (closed.size === 0 ? 4 : 3));
    for (let row = 0; row < rows.count; row += 1)
      expect([rowAt(above(row)), rowAt(above(row + 1) - 1)]).toEqual([row, row]);
  }
});

it('a pointer names the last of two properties with the same name, as JSON.parse does', () => {
  const outline = new JsonOutline();
  outline.read('{"a": 1, "a": "x", "b": 2}', true);
  expect(outline.nodes[nodeAt(outline, '/a')]).toMatchObject({ kind: 'text' });
});
