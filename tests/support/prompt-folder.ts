import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import type { FolderFile, PromptFolder } from '../../shared/contract/prompt-folders.ts';
import type { Prompt, PromptVersion } from '../../shared/contract/prompts.ts';
import { patience } from './patience.ts';
import { startTestHost, type TestHost } from './test-host.ts';

/** A host with a folder of files, as the person at the window has them. */
export interface FolderWorld {
  readonly host: TestHost;
  /** On disk, without links in its path. */
  readonly root: string;
  write(path: string, text: string): void;
  read(path: string): string;
  ask<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  link(folder?: string): Promise<PromptFolder>;
  folder(): Promise<PromptFolder>;
  /** Looks at the folder now, for what no watcher has to tell. */
  scan(): Promise<PromptFolder>;
  /** `folder/name: text` of every prompt, sorted. */
  library(): Promise<string[]>;
  prompt(name: string): Promise<Prompt>;
  versions(name: string): Promise<PromptVersion[]>;
  save(name: string, version: Record<string, unknown>): Promise<void>;
  sides(path: string): Promise<FolderFile>;
  /** Both sides change while the folder is away and nobody looks, as by a pull that comes with a save. */
  changeBoth(name: string, text: string, version: Record<string, unknown>): Promise<void>;
  resolveConflict(path: string, choice: string, more?: Record<string, unknown>): Promise<{ status: number }>;
  /** Waits until the library or the disk is as told. */
  until(isSo: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export async function startFolderWorld(): Promise<FolderWorld> {
  const host = await startTestHost();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-folder-')));
  let id = '';

  async function ask<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await host.host.api.fetch(request, { access: 'window' });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as Body };
  }

  const prompts = async () => (await ask<{ data: Prompt[] }>('GET', '/prompts?pageSize=100')).body.data;
  const prompt = async (name: string): Promise<Prompt> => (await prompts()).find((one) => one.name === name)!;
  const sides = async (path: string) =>
    (await ask<FolderFile>('POST', `/window/prompt-folders/${id}/file`, { path })).body;

  const scan = async () => (await ask<PromptFolder>('POST', `/window/prompt-folders/${id}/read`)).body;
  const save = async (name: string, version: Record<string, unknown>): Promise<void> => {
    await ask('POST', `/prompts/${(await prompt(name)).id}/versions`, version);
  };

  return {
    host,
    root,
    ask,
    prompt,
    sides,
    scan,
    save,
    async changeBoth(name, text, version) {
      const away = `${root}-away`;
      renameSync(root, away);
      await save(name, version);
      writeFileSync(join(away, `${name}.prompt`), text);
      renameSync(away, root);
      await scan();
    },
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    async link(folder) {
      const answer = await ask<PromptFolder>('POST', '/window/prompt-folders', {
        path: root,
        ...(folder !== undefined && { folder }),
      });
      ({ id } = answer.body);
      return answer.body;
    },
    folder: async () => (await ask<{ data: PromptFolder[] }>('GET', '/window/prompt-folders')).body.data[0]!,
    async library() {
      const shown = (await prompts()).map(async ({ id: promptId, name, folder, latestVersionId }) => {
        const { body } = await ask<PromptVersion>('GET', `/prompts/${promptId}/versions/${latestVersionId}`);
        return `${folder}/${name}: ${body.promptText}`;
      });
      return (await Promise.all(shown)).toSorted();
    },
    versions: async (name) =>
      (await ask<{ data: PromptVersion[] }>('GET', `/prompts/${(await prompt(name)).id}/versions`)).body.data,
    async resolveConflict(path, choice, more = {}) {
      const { versionId, file } = await sides(path);
      const body = { path, choice, versionId, hash: file?.hash ?? null, ...more };
      return ask('POST', `/window/prompt-folders/${id}/settle`, body);
    },
    async until(isSo) {
      await vi.waitFor(isSo, patience);
    },
    async close() {
      await host.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
