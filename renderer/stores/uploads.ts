import { create } from 'zustand';
import { createSource, maximumSourceBytes } from '../../shared/contract/sources.ts';
import { describeError } from '../components/state-panels.tsx';
import type { Client } from '../host/client.ts';

/** A file on its way to a dataspace. One that arrived is a source and no longer here. */
export interface Upload {
  id: number;
  dataspaceId: string;
  name: string;
  bytes: number;
  /** Part of it that the host has taken, 0 to 1. */
  fraction: number;
  state: 'waiting' | 'sending' | 'refused';
  /** Why it was refused, for a person. */
  reason: string | null;
}

interface UploadState {
  uploads: readonly Upload[];
}

/** A file that somebody picked or dropped, and what its source is to be called. */
export interface ChosenFile {
  file: File;
  name: string;
}

/** Letters that a source's name may have; of a longer path the end tells more. */
const longestName = 300;

/** More at a time would not be faster: the host reads one after the other. */
const maxConcurrency = 2;

export const useUploads = create<UploadState>()(() => ({ uploads: [] }));

const files = new Map<number, { file: File; stop: AbortController }>();
let lastId = 0;
let sending = 0;

function change(id: number, part: Partial<Upload>): void {
  useUploads.setState(({ uploads }) => ({
    uploads: uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)),
  }));
}

/** Takes an upload away: a refused one that was seen, or one under way, which ends it. */
export function dismissUpload(id: number): void {
  files.get(id)?.stop.abort();
  files.delete(id);
  useUploads.setState(({ uploads }) => ({ uploads: uploads.filter((upload) => upload.id !== id) }));
}

async function send(client: Client, { id, name, dataspaceId }: Upload): Promise<void> {
  const { file, stop } = files.get(id)!;
  change(id, { state: 'sending' });
  try {
    await client.upload(createSource, {
      fields: { name, dataspaceId },
      file,
      signal: stop.signal,
      onProgress: (fraction) => change(id, { fraction }),
    });
    dismissUpload(id);
  } catch (error) {
    files.delete(id);
    if (!stop.signal.aborted) change(id, { state: 'refused', reason: describeError(error).message });
  }
}

function sendNext(client: Client): void {
  const next = useUploads.getState().uploads.find(({ state }) => state === 'waiting');
  if (!next || sending >= maxConcurrency) return;
  sending += 1;
  void send(client, next).finally(() => {
    sending -= 1;
    sendNext(client);
  });
  sendNext(client);
}

/** What can be said of a file without sending it. */
function refusalOf(file: File): string | null {
  if (file.size === 0) return 'The file is empty.';
  return file.size > maximumSourceBytes ? 'The file is larger than 50 MB. Split it and add the parts.' : null;
}

/** Takes every refused file of a dataspace out of sight. */
export function dismissRefused(dataspaceId: string): void {
  useUploads.setState(({ uploads }) => ({
    uploads: uploads.filter((upload) => upload.dataspaceId !== dataspaceId || upload.state !== 'refused'),
  }));
}

/** Sends files to a dataspace, a few at a time. Refused ones stay with their reason; the others go on. */
export function uploadFiles(client: Client, dataspaceId: string, chosen: readonly ChosenFile[]): void {
  const added = chosen.map(({ file, name }): Upload => {
    lastId += 1;
    const reason = refusalOf(file);
    if (reason === null) files.set(lastId, { file, stop: new AbortController() });
    return {
      id: lastId,
      dataspaceId,
      name: name.slice(-longestName),
      bytes: file.size,
      fraction: 0,
      state: reason === null ? 'waiting' : 'refused',
      reason,
    };
  });
  useUploads.setState(({ uploads }) => ({ uploads: [...uploads, ...added] }));
  sendNext(client);
}
