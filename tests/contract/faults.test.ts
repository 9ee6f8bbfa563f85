// @module-tag slow
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SourceDetail } from '../../shared/contract/knowledge-window.ts';
import { temporaryFolder } from '../support/http-clients.ts';
import { longTest } from '../support/patience.ts';
import { read, startHost, type RunningHost } from '../support/running-host.ts';

const isFull = process.env['TOUCHSTONE_FULL_SUITE'] === '1';
const json = { 'content-type': 'application/json' };

async function end(host: RunningHost, signal: NodeJS.Signals): Promise<void> {
  const closed = once(host.child, 'close');
  host.child.kill(signal);
  await closed;
}

/** The status of an import of so many prompts, or null when the host ended before it answered. */
async function importPrompts(host: RunningHost, folder: string, count: number): Promise<number | null> {
  const sources = Array.from({ length: count }, (_, index) => ({
    name: `${index}.prompt`,
    text: `---\nmodel: openai/gpt-4o\n---\nPrompt ${index} of ${folder} for {{name}}. ${'Words. '.repeat(200)}`,
  }));
  const init = { method: 'POST', headers: json, body: JSON.stringify({ sources, folder }) };
  const response = await host.fetch('/window/prompts/import', init).catch(() => null);
  return response?.status ?? null;
}

async function countPrompts(host: RunningHost, folder: string): Promise<number> {
  let count = 0;
  let token: string | null = null;
  do {
    const query: string = token === null ? '' : `&continuationToken=${token}`;
    const page: { data: unknown[]; continuationToken: string | null } = await read(
      host,
      `/prompts?pageSize=100&folder=${folder}${query}`,
    );
    count += page.data.length;
    token = page.continuationToken;
  } while (token !== null);
  return count;
}

test('an import is complete or absent, however often the host is killed during it', longTest, async () => {
  const directory = await temporaryFolder();
  const count = 40;
  const rounds = Array.from({ length: isFull ? 25 : 2 }, (_, round) => `round${round}`);
  const statuses = new Map<string, number | null>();
  for (const folder of rounds) {
    const host = await startHost(directory);
    const closed = once(host.child, 'close');
    const timer = setTimeout(() => host.child.kill('SIGKILL'), Math.random() * 500);
    statuses.set(folder, await importPrompts(host, folder, count));
    await closed;
    clearTimeout(timer);
  }
  const host = await startHost(directory);
  for (const folder of rounds) {
    const found = await countPrompts(host, folder);
    expect([0, count], folder).toContain(found);
    if (statuses.get(folder) === 201) expect(found, folder).toBe(count);
  }
  expect(await importPrompts(host, 'after', count)).toBe(201);
  expect(await countPrompts(host, 'after')).toBe(count);
  await end(host, 'SIGTERM');
});

async function upload(host: RunningHost, name: string): Promise<Response> {
  const form = new FormData();
  form.append('name', name);
  form.append('file', new File(['# Notes\n\nA touchstone tests gold.'], `${name}.md`));
  return host.fetch('/sources', { method: 'POST', body: form });
}

test('requests fail with a message while the data folder is missing, and work again afterwards', longTest, async () => {
  const parent = await temporaryFolder();
  const directory = join(parent, 'data');
  const host = await startHost(directory);
  expect((await upload(host, 'before')).status).toBe(201);
  renameSync(directory, join(parent, 'gone'));
  const failed = await upload(host, 'during');
  const { error } = (await failed.json()) as { error: { message: string } };
  expect([failed.status, error.message]).toEqual([
    500,
    'The data folder is missing. Reconnect the disk that it is on and try again.',
  ]);
  expect((await host.fetch('/openapi.json')).status).toBe(200);
  renameSync(join(parent, 'gone'), directory);
  const { id } = (await (await upload(host, 'after')).json()) as { id: string };
  const status = async () => (await read<SourceDetail>(host, `/sources/${id}`)).status;
  await expect.poll(status).toBe('Ready');
  await end(host, 'SIGTERM');
});
