import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emptyReport, ImportJob } from '../../../../electron/audit/import/import-job.ts';
import { openTestStorage } from '../../storage/test-storage.ts';

test('the removal of an import goes on after a failure of the disk', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { imports } = openTestStorage();
  const batch = imports.create({
    id: randomUUID(),
    name: 'calls.jsonl',
    format: 'otlp',
    state: 'Completed',
    plan: { fileName: 'calls.jsonl', callerId: randomUUID(), apiKeyId: null, format: null, columns: {}, bytes: 0 },
    progress: { position: 0, bytes: 0, imported: 0, report: emptyReport, failure: null },
    createdAt: 1,
  });
  const removeRuns = vi.fn(imports.removeRuns).mockImplementationOnce(() => {
    throw new Error('disk I/O error');
  });
  const [onRemoved, log] = [vi.fn(), vi.fn()];
  const job = new ImportJob({
    batch,
    store: { ...imports, removeRuns },
    reader: {} as never,
    rules: () => [],
    path: null,
    onChange: () => {},
    onRemoved,
    log,
  });
  await job.removeRuns();
  expect([log.mock.calls.length, onRemoved.mock.calls.length]).toEqual([1, 0]);
  await vi.advanceTimersToNextTimerAsync();
  expect([imports.list(), onRemoved.mock.calls.length]).toEqual([[], 1]);
});
