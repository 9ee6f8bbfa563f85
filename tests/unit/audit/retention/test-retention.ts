import { onTestFinished } from 'vitest';
import { createRetention, type Retention } from '../../../../electron/audit/retention/create-retention.ts';
import type { NewRun } from '../../../../electron/storage/run-rows.ts';
import type { Storage } from '../../../../electron/storage/storage.ts';
import { openTestStorage } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { day, now } from './retention-time.ts';

export interface RetentionWorld {
  readonly storage: Storage & { directory: string };
  readonly retention: Retention;
  readonly log: string[];
}

/** Real storage whose retention takes `now` for the time. */
export function openRetention(storage = openTestStorage()): RetentionWorld {
  const log: string[] = [];
  const retention = createRetention({
    store: storage.retention,
    settings: storage.settings,
    log: (message, error) => void log.push(`${message} ${String(error)}`),
    now: () => now,
  });
  onTestFinished(() => retention.close());
  return { storage, retention, log };
}

/** Records a run that ended so many days ago. */
export async function recordAged(storage: Storage, days: number, change: Partial<NewRun> = {}): Promise<NewRun> {
  const createdAt = now - days * day;
  const run = sampleRun({ createdAt, ...change });
  storage.runs.joinConversation({
    conversationId: run.conversationId,
    workspaceId: null,
    callerId: run.callerId,
    name: run.promptText.slice(0, 120),
  });
  storage.runs.begin(run);
  await storage.runs.finish(run.runId, sampleOutcome({ completedAt: createdAt + 1000 }));
  return run;
}
