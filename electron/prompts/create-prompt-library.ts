import type { Completions } from '../completions/completions.ts';
import type { Log } from '../log.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { Storage } from '../storage/storage.ts';
import { createPrompts } from './create-prompts.ts';
import { createPromptFolders } from './folder/create-prompt-folders.ts';
import { createPromptChanges, noticeChanges } from './prompt-changes.ts';
import { createPromptReader } from './transfer/create-prompt-reader.ts';
import { createUploadStore } from './transfer/upload-store.ts';

export interface PromptLibraryOptions {
  readonly storage: Storage;
  readonly providers: Providers;
  readonly completions: Completions;
  readonly log: Log;
}

/** The prompt library, imports and linked folders. */
export function createPromptLibrary({ storage, providers, completions, log }: PromptLibraryOptions) {
  const promptChanges = createPromptChanges();
  const storedPrompts = noticeChanges(
    createPrompts({ store: storage.prompts, draftRuns: storage.draftRuns, providers, completions }),
    promptChanges.changed,
  );
  const reader = createPromptReader();
  const uploads = createUploadStore();
  const folders = createPromptFolders({
    store: storage.promptFolders,
    prompts: storedPrompts,
    reader,
    systemOf: providers.systemOf,
    log,
  });
  return {
    prompts: noticeChanges(storedPrompts, folders.promptsChanged),
    promptChanges,
    reader,
    uploads,
    folders,
    async close(): Promise<void> {
      uploads.close();
      await folders.close();
      await reader.close();
    },
  };
}
