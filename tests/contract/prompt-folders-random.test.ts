// @module-tag slow
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFolderWorld, type FolderWorld } from '../support/prompt-folder.ts';

let world: FolderWorld;
beforeEach(async () => {
  world = await startFolderWorld();
});
afterEach(() => world.close());

/** The same numbers for the same seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const names = ['a', 'b', 'c'] as const;
/** The template in a file, which is its last line. */
const onDisk = (name: string) =>
  existsSync(join(world.root, `${name}.prompt`)) ? world.read(`${name}.prompt`).trim().split('\n').at(-1)! : null;

const versionTexts = async (name: string) => (await world.versions(name)).map(({ promptText }) => promptText);

/** What another program has left in each file, until it changes that itself. */
type Left = Map<string, string | null>;

/** Whatever took the place of a text in a file, the text has become a version before. */
async function requireNothingLost(left: Left): Promise<void> {
  for (const name of names) {
    const [before, now] = [left.get(name) ?? null, onDisk(name)];
    if (before !== null && now !== before) expect(await versionTexts(name), `${name} lost ${before}`).toContain(before);
    left.set(name, now);
  }
}

test.each([1, 2, 3, 4])('loses nothing with random writes and saves in random order (seed %i)', async (seed) => {
  const next = numbersOf(seed);
  for (const name of names) world.write(`${name}.prompt`, `${name} first\n`);
  await world.link('Team');
  const left: Left = new Map(names.map((name) => [name, `${name} first`]));
  const saved: [name: string, text: string][] = [];
  for (let step = 0; step < 40; step += 1) {
    const name = names[next(names.length)]!;
    const text = `${name} ${seed} ${step}`;
    const kind = next(8);
    if (kind < 3) {
      world.write(`${name}.prompt`, `${text}\n`);
      left.set(name, text);
    } else if (kind < 6) {
      await world.save(name, { promptText: text });
      saved.push([name, text]);
    } else if (kind === 6) {
      rmSync(join(world.root, `${name}.prompt`), { force: true });
      left.set(name, null);
    } else {
      const issue = (await world.scan()).issues[0];
      await requireNothingLost(left);
      if (issue?.kind === 'conflict') await world.resolveConflict(issue.path, next(2) === 0 ? 'mine' : 'file');
      if (issue?.kind === 'file-missing') await world.resolveConflict(issue.path, 'mine');
      // A decision is what may put a text aside.
      for (const one of names) left.set(one, onDisk(one));
    }
  }
  const { issues } = await world.scan();
  await requireNothingLost(left);
  for (const name of names) {
    const [latest] = await versionTexts(name);
    const hasIssue = issues.some(({ path }) => path === `${name}.prompt`);
    if (!hasIssue) expect(onDisk(name)).toBe(latest);
  }
  for (const [name, text] of saved) expect(await versionTexts(name)).toContain(text);
});
