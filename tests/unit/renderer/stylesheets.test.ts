import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const screens = join(import.meta.dirname, '../../../renderer/screens');

/** The first class of each selector: `compare` for `.compare .metrics > div` and for `.compare__head`. */
function blocksIn(css: string): string[] {
  const selectors = css.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{/g);
  return [...selectors].flatMap(([, list]) =>
    list!.split(',').flatMap((selector) => /^\s*\w*\.([a-z]+(?:-[a-z]+)*)/.exec(selector)?.[1] ?? []),
  );
}

test('no two screens style the same class, because the styles of a screen stay when another one opens', () => {
  const screensOf = new Map<string, Set<string>>();
  for (const path of globSync('**/*.css', { cwd: screens })) {
    for (const block of blocksIn(readFileSync(join(screens, path), 'utf8'))) {
      screensOf.set(block, (screensOf.get(block) ?? new Set()).add(path.split(/[\\/]/)[0]!));
    }
  }
  expect(screensOf.has('history')).toBe(true);
  const shared = [...screensOf].filter(([, owners]) => owners.size > 1).map(([block]) => block);
  expect(shared).toEqual([]);
});
