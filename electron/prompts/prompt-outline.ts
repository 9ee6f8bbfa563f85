import type { PromptOutline } from '../../shared/contract/prompt-outline.ts';
import { folderParts, type FolderCount, type TagCount } from '../storage/prompts/prompt-list.ts';

function compareNames(one: string, other: string): number {
  return one.localeCompare(other, 'en', { sensitivity: 'base', numeric: true });
}

function compareParts(one: readonly string[], other: readonly string[]): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const order = compareNames(one[index]!, other[index]!);
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** Folders and tags by name. A folder that only holds folders is there too, and counts what is below it. */
export function outlineOf(folders: readonly FolderCount[], tags: readonly TagCount[]): PromptOutline {
  const counts = new Map<string, number>();
  let [prompts, withoutFolder] = [0, 0];
  for (const { folder, prompts: count } of folders) {
    const parts = folderParts(folder ?? '');
    prompts += count;
    if (parts.length === 0) withoutFolder += count;
    for (let length = 1; length <= parts.length; length += 1) {
      const path = parts.slice(0, length).join('/');
      counts.set(path, (counts.get(path) ?? 0) + count);
    }
  }
  return {
    prompts,
    withoutFolder,
    folders: [...counts]
      .map(([folder, count]) => ({ folder, parts: folder.split('/'), prompts: count }))
      .toSorted((one, other) => compareParts(one.parts, other.parts))
      .map(({ folder, prompts: count }) => ({ folder, prompts: count })),
    tags: tags
      .map(({ tag, prompts: count }) => ({ tag, prompts: count }))
      .toSorted((a, b) => compareNames(a.tag, b.tag)),
  };
}
