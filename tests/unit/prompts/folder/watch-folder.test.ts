import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchFolder } from '../../../../electron/prompts/folder/linked-folder.ts';

/** A folder that is watched, and how often a change was reported. */
async function watched(): Promise<{ root: string; reported: () => number }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-watch-')));
  let times = 0;
  const watch = await watchFolder(root, {
    onChange: () => (times += 1),
    onFailure: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(async () => {
    await watch.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, reported: () => times };
}

test('reports changes that happen while watching starts', async () => {
  const { root, reported } = await watched();
  writeFileSync(join(root, 'a.prompt'), 'Changed before the folder was gone through');
  await expect.poll(reported).toBeGreaterThan(0);
});
