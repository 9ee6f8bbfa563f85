import { useState } from 'react';
import { maxFileBytes, type StoredFile } from '../../../../shared/contract/files.ts';
import { formatBytes } from '../../../components/format.ts';
import { describeError } from '../../../components/state-panels.tsx';
import { useStoreFile } from '../../../queries/files.ts';
import { canBeSmaller, makeSmaller, type SmallerImage } from './smaller-image.ts';

/** A file on its way to a variable. */
export interface FileUpload {
  readonly id: number;
  readonly name: string;
  readonly bytes: number;
  readonly fraction: number;
  /** Why it isn't stored; null while it is sent. */
  readonly problem: string | null;
  /** A smaller version to send instead, which the person decides about. */
  readonly smaller: SmallerImage | null;
  readonly controller: AbortController;
}

let lastId = 0;

function tooLarge({ name, size }: Pick<File, 'name' | 'size'>): string {
  return `${name} has ${formatBytes(size)}. A file can have at most 20 MB.`;
}

export interface FileUploads {
  readonly uploads: readonly FileUpload[];
  send(file: File): void;
  /** Cancels an upload, or dismisses one that failed. */
  dismiss(id: number): void;
}

/** Sends files to the host, and offers smaller versions of images that are too large. `onStored` may follow after the field is gone. */
export function useFileUploads(onStored: (file: StoredFile) => void): FileUploads {
  const [uploads, setUploads] = useState<readonly FileUpload[]>([]);
  const { mutateAsync: store } = useStoreFile();
  const update = (id: number, change: Partial<FileUpload>): void =>
    setUploads((all) => all.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  const remove = (id: number): void => setUploads((all) => all.filter((upload) => upload.id !== id));

  async function sendFile(file: File, { id, controller }: FileUpload): Promise<void> {
    const { signal } = controller;
    try {
      if (file.size > maxFileBytes) {
        const problem = tooLarge(file);
        const smaller = canBeSmaller(file.type) ? await makeSmaller(file, file.name).catch(() => null) : null;
        update(id, { problem, smaller });
        return;
      }
      const stored = await store({ file, signal, onProgress: (fraction) => update(id, { fraction }) });
      remove(id);
      if (!signal.aborted) onStored(stored);
    } catch (error) {
      if (!signal.aborted) update(id, { problem: describeError(error).message });
    }
  }

  return {
    uploads,
    send(file) {
      const { name, size: bytes } = file;
      const controller = new AbortController();
      const upload = { id: ++lastId, name, bytes, fraction: 0, problem: null, smaller: null, controller };
      // What failed before has been dealt with by another file.
      setUploads((all) => [...all.filter(({ problem }) => problem === null), upload]);
      void sendFile(file, upload);
    },
    dismiss(id) {
      uploads.find((upload) => upload.id === id)?.controller.abort();
      remove(id);
    },
  };
}
