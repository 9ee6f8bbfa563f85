import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { openTestStorage } from './test-storage.ts';

const caller = sampleRun().callerId;
const workspaces = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const;

function joinConversation(storage: Storage, change: Partial<Parameters<Storage['runs']['joinConversation']>[0]> = {}) {
  return storage.runs.joinConversation({
    conversationId: null,
    workspaceId: null,
    callerId: caller,
    name: 'First words',
    ...change,
  });
}

async function record(storage: Storage, conversation: { conversationId: string; workspaceId: string | null }) {
  const run = sampleRun(conversation);
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  storage.flush();
  return run;
}

function conversationsIn(directory: string): unknown[] {
  const database = new Database(join(directory, 'touchstone.sqlite'), { readonly: true });
  const rows = database.prepare('SELECT id, name, caller_id, workspace_id, last_run FROM conversations').all();
  database.close();
  return rows;
}

test('a run without a conversation starts one, named by its prompt', async () => {
  const storage = openTestStorage();
  const joined = joinConversation(storage, { workspaceId: workspaces[0] });
  const run = await record(storage, joined);
  expect(storage.runs.read(run.runId)?.conversationId).toBe(joined.conversationId);
  expect(conversationsIn(storage.directory)).toEqual([
    { id: joined.conversationId, name: 'First words', caller_id: caller, workspace_id: workspaces[0], last_run: 1 },
  ]);
});

test('an unknown id creates a conversation with that id, which later runs join in any spelling', async () => {
  const storage = openTestStorage();
  const conversationId = randomUUID();
  const first = joinConversation(storage, { conversationId });
  const second = joinConversation(storage, { conversationId: conversationId.toUpperCase(), name: 'Other words' });
  expect([first, second]).toEqual([first, { conversationId, workspaceId: null }]);
  await Promise.all([record(storage, first), record(storage, second)]);
  await record(storage, joinConversation(storage, { conversationId }));
  expect(conversationsIn(storage.directory)).toMatchObject([{ id: conversationId, name: 'First words', last_run: 3 }]);
});

test.each(['before its first run is written', 'afterwards'])(
  'rejects another caller, and a second workspace conflicts, %s',
  async (moment) => {
    const storage = openTestStorage();
    const conversationId = randomUUID();
    const joined = joinConversation(storage, { conversationId });
    if (moment === 'afterwards') await record(storage, joined);
    expect(() => joinConversation(storage, { conversationId, callerId: randomUUID() })).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
    expect(joinConversation(storage, { conversationId, workspaceId: workspaces[0].toUpperCase() }).workspaceId).toBe(
      workspaces[0],
    );
    expect(() => joinConversation(storage, { conversationId, workspaceId: workspaces[1] })).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
    await record(storage, joinConversation(storage, { conversationId }));
    expect(joinConversation(storage, { conversationId })).toEqual({ conversationId, workspaceId: workspaces[0] });
    expect(conversationsIn(storage.directory)).toMatchObject([{ workspace_id: workspaces[0] }]);
  },
);
