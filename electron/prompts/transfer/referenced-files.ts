/** Files that a source names and that are imported together with it. Only imported files are ever read. */

import { posix } from 'node:path';
import { decodeText, TransferError } from './source-text.ts';

/** A referenced file. `reference` is the path that found it. */
export interface ReferencedFile {
  readonly reference: string;
  /** The path relative to the chosen folder. */
  readonly name: string;
  readonly content: string | Uint8Array;
}

export interface TextFile {
  readonly name: string;
  readonly text: string;
}

export interface ReferencedFiles {
  /** The files at a path or pattern, relative to the source's folder. Throws `TransferError` with the missing path if there are none. */
  read(reference: string): readonly TextFile[];
  /** All requested paths, including missing files. */
  readonly references: ReadonlySet<string>;
}

/** Max different paths that one source may name. */
const maxReferences = 1000;

/** The path below the imported folder: `../a.txt` of `tests/config.yaml` is `a.txt`. */
export function resolvePath(source: string, reference: string): string {
  const path = reference.replace(/^file:\/\//, '').replaceAll('\\', '/');
  const folder = path.startsWith('/') ? '' : posix.dirname(source.replaceAll('\\', '/'));
  return posix.normalize(posix.join(folder, path)).replace(/^\/+/, '');
}

export function createReferencedFiles(source: string, files: readonly ReferencedFile[]): ReferencedFiles {
  const references = new Set<string>();
  return {
    references,
    read(reference) {
      const path = resolvePath(source, reference);
      if (!references.has(path) && references.size >= maxReferences)
        throw new TransferError(`The file refers to more than ${maxReferences} files`);
      references.add(path);
      const found = files.filter((file) => file.reference === path);
      if (found.length === 0) {
        const shown = path.slice(0, 200);
        throw new TransferError(`${shown} isn't among the imported files; add it, or import the whole folder`);
      }
      return found.map(({ name, content }) => ({
        name,
        text: typeof content === 'string' ? content : decodeText(content),
      }));
    },
  };
}

/** `*` is any part of a name and `?` one character. Linear: only the last star is tried again. */
function matchesName(pattern: string, name: string): boolean {
  let [at, index, star, retry] = [0, 0, -1, 0];
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at++;
      retry = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      index = ++retry;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/** `**` is any number of folders; the same algorithm as in a name, folder by folder. */
function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  let [at, index, star, retry] = [0, 0, -1, 0];
  while (index < path.length) {
    if (pattern[at] === '**') {
      star = at++;
      retry = index;
    } else if (at < pattern.length && matchesName(pattern[at]!, path[index]!)) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      at = star + 1;
      index = ++retry;
    } else return false;
  }
  while (pattern[at] === '**') at += 1;
  return at === pattern.length;
}

/** `a.{txt,md}` is `a.txt` and `a.md`; of several groups only the first one is expanded. */
function alternatives(pattern: string): string[] {
  const [open, close] = [pattern.indexOf('{'), pattern.indexOf('}')];
  if (open === -1 || close < open) return [pattern];
  const options = pattern
    .slice(open + 1, close)
    .split(',')
    .slice(0, 20);
  return options.map((option) => `${pattern.slice(0, open)}${option}${pattern.slice(close + 1)}`);
}

const lastPart = (path: string) => path.slice(path.lastIndexOf('/') + 1);

export interface FindTask {
  readonly references: readonly string[];
  /** Max characters of all imported files. */
  readonly names: readonly string[];
}

export type ResolvedReference = Pick<ReferencedFile, 'reference' | 'name'>;

export function findReferences({ references, names }: FindTask): ResolvedReference[] {
  const find = createFileFinder(names);
  return references.flatMap((reference) => find(reference).map((name) => ({ reference, name })));
}

/** Finds imported files by a path or pattern. A file elsewhere is found by its name if the name is unique. */
function createFileFinder(names: readonly string[]): (reference: string) => readonly string[] {
  const paths = new Map(names.map((name) => [posix.normalize(name.replaceAll('\\', '/')), name]));
  const byName = Map.groupBy(paths, ([path]) => lastPart(path));
  const matching = (pattern: string) =>
    [...paths].flatMap(([path, name]) => (matchesPath(pattern.split('/'), path.split('/')) ? [name] : []));
  return (reference) => {
    const exact = paths.get(reference);
    if (exact !== undefined) return [exact];
    if (/[*?{]/.test(reference)) {
      const patterns = alternatives(reference);
      const found = patterns.flatMap(matching);
      // Files that were selected one by one have no folders.
      return [...new Set(found.length > 0 ? found : patterns.map(lastPart).flatMap(matching))];
    }
    const others = byName.get(lastPart(reference)) ?? [];
    return others.length === 1 ? others.map(([, name]) => name) : [];
  };
}
