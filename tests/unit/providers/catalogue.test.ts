import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { keyedProviders } from '../../../shared/contract/common.ts';
import { catalogue, findEntry } from '../../../electron/providers/catalogue.ts';
import { editDistance, nearestNames } from '../../../electron/providers/model-directory.ts';

describe('the bundled catalogue', () => {
  it.each(keyedProviders)('names for %s only successors of its own', (aiSystem) => {
    const entries = [...catalogue[aiSystem].values()];
    const unknown = entries.filter(({ replacement }) => replacement !== null && !catalogue[aiSystem].has(replacement));
    expect([entries.length > 5, unknown]).toEqual([true, []]);
  });

  it.each(keyedProviders)('has dates in a sortable format for %s', (aiSystem) => {
    const dates = [...catalogue[aiSystem].values()].flatMap(({ shutdownDate }) => shutdownDate ?? []);
    expect(dates.filter((date) => !/^\d{4}-\d{2}-\d{2}$/.test(date))).toEqual([]);
  });

  it('has only models that answer with text', () => {
    const names = keyedProviders.flatMap((aiSystem) => [...catalogue[aiSystem].keys()]);
    expect(names.filter((name) => /embed|whisper|tts|image|guard/.test(name))).toEqual([]);
  });

  it('resolves a release to its model', () => {
    expect(findEntry('OpenAi', 'gpt-6-sol-2026-09-15')?.name).toBe('gpt-6-sol');
    expect(findEntry('Anthropic', 'claude-opus-5-5-20261001')?.name).toBe('claude-opus-5-5');
    expect(findEntry('OpenAi', 'gpt-6-sol-tuned')).toBeNull();
  });

  it('contains the licence of its data', () => {
    const notice = readFileSync(new URL('../../../electron/providers/NOTICE', import.meta.url), 'utf8');
    expect(notice).toContain('Copyright (c) 2025 models.dev');
  });

  it('is created by a script that names its input', () => {
    const script = fileURLToPath(new URL('../../../scripts/make-catalogue.mjs', import.meta.url));
    const run = () => execFileSync(process.execPath, [script], { encoding: 'utf8', stdio: 'pipe' });
    expect(run).toThrow(expect.objectContaining({ status: 2, stderr: expect.stringContaining('snapshot') }) as Error);
  });
});

describe('the nearest names', () => {
  it.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['abc', '', 3],
    ['abc', 'abd', 1],
    ['abcd', 'abdc', 1],
    ['kitten', 'sitting', 3],
  ])('count the changes between %j and %j as %i', (first, second, distance) => {
    expect([editDistance(first, second), editDistance(second, first)]).toEqual([distance, distance]);
  });

  it('come first, ignoring case', () => {
    expect(nearestNames('GPT4o', ['claude', 'gpt-4o', 'gpt-4', 'o3'], 2)).toEqual(['gpt-4o', 'gpt-4']);
  });

  it.each([
    [40, 'abcdefgx'],
    [60, 'hgfedcba'],
  ])('are looked for among the fifty that share most letters: with %i others it is %s', (others, nearest) => {
    const anagrams = Array.from({ length: others }, () => 'hgfedcba');
    expect(nearestNames('abcdefgh', [...anagrams, 'abcdefgx'], 1)).toEqual([nearest]);
  });

  it('are found by their first hundred characters', () => {
    const start = 'models/'.repeat(20);
    expect(nearestNames(`${start}b`, [`${start}b`, `${start}a`], 1)).toEqual([`${start}a`]);
  });
});
