import { readFileSync } from 'node:fs';
import {
  findReferences,
  type ReferencedFiles,
  resolvePath,
  type TextFile,
} from '../../prompts/transfer/referenced-files.ts';
import { decodeText, TransferError } from '../../prompts/transfer/source-text.ts';
import type { TableFile } from './table.ts';

/** Different paths that one configuration may name, those that are missing included: finding one takes longer the more files there are. */
const maxReferences = 1000;

/** The files that a configuration may refer to: only those that came with it. Each is read when the first value names it. */
export function companionFiles({ fileName, companions = [] }: TableFile): ReferencedFiles {
  const paths = new Map(companions.map(({ name, path }) => [name, path]));
  const read = new Map<string, readonly TextFile[]>();
  const requested = new Set<string>();
  return {
    references: requested,
    read(reference) {
      const path = resolvePath(fileName, reference);
      const known = read.get(path);
      if (known) return known;
      if (requested.size >= maxReferences)
        throw new TransferError(`The file refers to more than ${maxReferences} files`);
      requested.add(path);
      const found = findReferences({ references: [path], names: [...paths.keys()] });
      if (found.length === 0)
        throw new TransferError(
          `${path.slice(0, 200)} isn't among the imported files; add it, or import the whole folder`,
        );
      const files = found.map(({ name }) => ({ name, text: decodeText(readFileSync(paths.get(name)!)) }));
      read.set(path, files);
      return files;
    },
  };
}
