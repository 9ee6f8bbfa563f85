import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { serviceModels } from '../../../shared/contract/settings.ts';

/** A folder of the library with everything below it. */
export interface FolderEntry {
  /** The whole way to it, `support/mail`. */
  path: string;
  /** Its last part. */
  name: string;
  /** How many folders it is inside of. */
  depth: number;
  prompts: number;
}

export interface TagEntry {
  tag: string;
  prompts: number;
}

/** Folders by name, each after the one that it is inside of. A folder that only holds folders is there too. */
export function foldersOf(prompts: readonly Pick<Prompt, 'folder'>[]): FolderEntry[] {
  const counts = new Map<string, number>();
  for (const { folder } of prompts) {
    const parts = folder === null ? [] : partsOf(folder);
    for (let length = 1; length <= parts.length; length += 1) {
      const path = parts.slice(0, length).join('/');
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([path, count]) => ({ path, parts: partsOf(path), prompts: count }))
    .toSorted((one, other) => compareParts(one.parts, other.parts))
    .map(({ path, parts, prompts: count }) => ({
      path,
      name: parts.at(-1) ?? path,
      depth: parts.length - 1,
      prompts: count,
    }));
}

function partsOf(folder: string): string[] {
  return folder
    .split('/')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function compareParts(one: readonly string[], other: readonly string[]): number {
  for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
    const order = (one[index] ?? '').localeCompare(other[index] ?? '', 'en', { sensitivity: 'base', numeric: true });
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

/** Tags by name. */
export function tagsOf(prompts: readonly Pick<Prompt, 'tags'>[]): TagEntry[] {
  const counts = new Map<string, number>();
  for (const { tags } of prompts) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .map(([tag, count]) => ({ tag, prompts: count }))
    .toSorted((one, other) => one.tag.localeCompare(other.tag, 'en', { sensitivity: 'base' }));
}

export interface LibraryFilter {
  words: string;
  folder: string | null;
  tags: readonly string[];
}

function isInFolder(prompt: Pick<Prompt, 'folder'>, folder: string): boolean {
  const path = prompt.folder === null ? '' : partsOf(prompt.folder).join('/');
  return folder === '' ? path === '' : path === folder || path.startsWith(`${folder}/`);
}

function textOf(prompt: Prompt, version: PromptVersion | undefined): string {
  const { name, folder, tags, description } = prompt;
  const own = version ? [version.promptText, version.systemMessage, version.model, version.note] : [];
  return [name, folder, ...tags, description, ...own].join('\n').toLowerCase();
}

/** The prompts that pass: in the folder, with every tag, and with every word somewhere in what is known of them. */
export function filterPrompts(
  prompts: readonly Prompt[],
  filter: LibraryFilter,
  versions: ReadonlyMap<string, PromptVersion> | undefined,
): Prompt[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  return prompts.filter((prompt) => {
    if (filter.folder !== null && !isInFolder(prompt, filter.folder)) return false;
    if (!filter.tags.every((tag) => prompt.tags.includes(tag))) return false;
    if (words.length === 0) return true;
    const text = textOf(prompt, versions?.get(prompt.id));
    return words.every((word) => text.includes(word));
  });
}

/** The model that a version runs on: its own, or the service's first one. */
export function modelNameOf({ aiSystem, model }: Pick<PromptVersion, 'aiSystem' | 'model'>) {
  return aiSystem === null || model === null
    ? ({ aiSystem: 'ServiceAi', model: serviceModels[0] } as const)
    : { aiSystem, model };
}

/** The facts of the model that a version runs on; null for a name that no list has. */
export function modelOf(version: Pick<PromptVersion, 'aiSystem' | 'model'>, models: readonly Model[]): Model | null {
  const { aiSystem, model } = modelNameOf(version);
  return models.find((known) => known.aiSystem === aiSystem && known.name === model) ?? null;
}
