import { describe, expect, test } from 'vitest';
import { ActiveMap, ActiveSet } from '../../../electron/common/active-values.ts';
import { fc } from '../../support/fast-check.ts';

describe('a set of active values', () => {
  test('has each value until it is removed', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat({ max: 9 }), { nil: null }), { maxLength: 60 }), (steps) => {
        const values = new ActiveSet<object>();
        const present: { value: object; remove: () => void }[] = [];
        for (const step of steps) {
          if (step === null) {
            const value = {};
            present.push({ value, remove: values.add(value) });
          } else {
            const [removed] = present.splice(step, 1);
            removed?.remove();
            // Twice has no effect.
            removed?.remove();
          }
          expect(new Set(values)).toEqual(new Set(present.map(({ value }) => value)));
          expect(values.size).toBe(present.length);
        }
      }),
    );
  });

  test('keeps a value that was added after another, when that is removed again', () => {
    const values = new ActiveSet<object>();
    const removeFirst = values.add({});
    removeFirst();
    const second = {};
    values.add(second);
    removeFirst();
    expect([...values]).toEqual([second]);
  });
});

describe('a map of active values', () => {
  const key = fc.constantFrom<string[]>('a', 'b', 'c', '1', '0', '__proto__', 'constructor', '');
  const step = fc.oneof(
    fc.record({ set: key, to: fc.nat() }),
    fc.record({ delete: key }),
    fc.record({ deleteWhileReading: fc.array(key) }),
  );

  test('is like a Map', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = new ActiveMap<number>();
        const expected = new Map<string, number>();
        for (const next of steps) {
          if ('set' in next) {
            map.set(next.set, next.to);
            expected.set(next.set, next.to);
          } else if ('delete' in next) expect(map.delete(next.delete)).toBe(expected.delete(next.delete));
          else {
            const seen: string[] = [];
            for (const [name] of map) {
              seen.push(name);
              if (next.deleteWhileReading.includes(name)) map.delete(name);
            }
            expect(seen).toEqual([...expected.keys()]);
            for (const name of next.deleteWhileReading) expected.delete(name);
          }
          expect([...map]).toEqual([...expected]);
          expect([map.size, map.oldest]).toEqual([expected.size, expected.keys().next().value ?? null]);
          for (const name of ['a', '1', '__proto__', 'toString'])
            expect([map.has(name), map.get(name)]).toEqual([expected.has(name), expected.get(name)]);
        }
      }),
    );
  });
});
