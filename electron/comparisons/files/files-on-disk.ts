import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';

const maxFileBytes = 200 * 1_048_576;

/** Files that a configuration names, from the disk. */
export function filesOnDisk(file: string): ReferencedFiles {
  const folder = dirname(file);
  const references = new Set<string>();
  return {
    references,
    read(reference) {
      const path = reference.replace(/^file:\/\//, '');
      references.add(path);
      const names = /[*?{]/.test(path) ? globSync(path, { cwd: folder }).toSorted() : [path];
      if (names.length === 0) throw new TransferError(`${path.slice(0, 200)} matches no file`);
      return names.map((name) => {
        try {
          const content = readFileSync(resolve(folder, name), 'utf8');
          if (content.length > maxFileBytes) throw new TransferError(`${name} is larger than 200 MB`);
          return { name, text: content };
        } catch (error) {
          if (error instanceof TransferError) throw error;
          throw new TransferError(
            `${name.slice(0, 200)} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
          );
        }
      });
    },
  };
}
