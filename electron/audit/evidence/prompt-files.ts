import { constants } from 'node:fs';
import { access, copyFile, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportRow } from '../../storage/export-rows.ts';
import { messagesIn } from '../../storage/stored-messages.ts';

const extensions: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'image/jpeg': 'jpg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
};

/** The name of a prompt's file in a pack: its ID, which is its SHA-256, and an extension that opens it. */
function packedName(fileId: string, mediaType: string): string {
  return `file-${fileId}.${extensions[mediaType] ?? mediaType.split('/')[1]}`;
}

export interface PromptFileCopier {
  /** Copies the files of a run that the pack doesn't have yet. */
  copy(row: ExportRow): Promise<void>;
  /** IDs of files whose content isn't stored any more. */
  readonly missing: ReadonlySet<string>;
}

interface CopierOptions {
  /** The folder of all files: `ab/abcd…`. */
  readonly source: string;
  readonly pack: string;
  /** Where a copy is written before it gets its name, on the same disk as the pack. */
  readonly partial: string;
  readonly missing: readonly string[];
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Copies are complete under their names, also after a crash, so that a resumed pack doesn't copy them again. */
export function createPromptFileCopier({ source, pack, partial, missing: known }: CopierOptions): PromptFileCopier {
  const missing = new Set(known);
  const copied = new Set<string>();

  async function copyOne(fileId: string, mediaType: string): Promise<void> {
    if (copied.has(fileId) || missing.has(fileId) || !/^[\da-f]{64}$/.test(fileId)) return;
    const target = join(pack, packedName(fileId, mediaType));
    if (!(await exists(target))) {
      try {
        await copyFile(join(source, fileId.slice(0, 2), fileId), partial, constants.COPYFILE_FICLONE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        missing.add(fileId);
        return;
      }
      await using copy = await open(partial, 'r+');
      await copy.sync();
      await rename(partial, target);
    }
    copied.add(fileId);
  }

  return {
    missing,
    async copy(row) {
      if (row.messages_json === null || !row.messages_json.includes('"type":"file"')) return;
      for (const { content } of messagesIn(row)) {
        for (const part of content) if (part.type === 'file') await copyOne(part.fileId, part.mediaType);
      }
    },
  };
}
