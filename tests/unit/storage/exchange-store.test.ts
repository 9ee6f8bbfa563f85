import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Storage } from '../../../electron/storage/storage.ts';
import { sampleOutcome, sampleRun } from './sample-run.ts';
import { openTestStorage } from './test-storage.ts';

async function record(storage: Storage, createdAt: number): Promise<string> {
  const run = sampleRun({ createdAt });
  storage.runs.joinConversation({
    conversationId: run.conversationId,
    workspaceId: null,
    callerId: run.callerId,
    name: 'Test',
  });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome());
  return run.runId;
}

test('an exchange is deleted when its run is deleted or anonymised, and its text is overwritten', async () => {
  const storage = openTestStorage();
  const ids = [await record(storage, 1), await record(storage, 2), await record(storage, 3)];
  storage.exchanges.write(ids.map((runId, index) => ({ runId, json: `["Ambergris ${index}"]` })));
  storage.retention.apply('delete', 2, 10);
  storage.retention.apply('anonymise', 3, 10);
  expect(ids.map((id) => storage.exchanges.read(id))).toEqual([null, null, '["Ambergris 2"]']);
  storage.exchanges.write([
    { runId: ids[0]!, json: '["late"]' },
    { runId: ids[1]!, json: '["late"]' },
  ]);
  expect(ids.map((id) => storage.exchanges.read(id))).toEqual([null, null, '["Ambergris 2"]']);
  await storage.close();
  const files = readdirSync(storage.directory).filter((name) => name.includes('.sqlite'));
  const text = files.map((name) => readFileSync(join(storage.directory, name), 'latin1')).join('');
  expect([text.includes('Ambergris 0'), text.includes('Ambergris 1'), text.includes('Ambergris 2')]).toEqual([
    false,
    false,
    true,
  ]);
});

test('a backup includes the exchanges', async () => {
  const storage = openTestStorage();
  const runId = await record(storage, 1);
  storage.exchanges.write([{ runId, json: '["kept"]' }]);
  const { fileName } = await storage.createBackup();
  storage.exchanges.prune(0, 10);
  storage.scheduleRestore(fileName);
  await storage.close();
  expect(openTestStorage({ directory: storage.directory }).exchanges.read(runId)).toBe('["kept"]');
});
