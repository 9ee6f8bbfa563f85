import { setTimeout as wait } from 'node:timers/promises';
import type { RetentionPreview } from '../../../shared/contract/audit-retention.ts';
import type { OldRunPosition, RetentionMode, RetentionStore } from '../../storage/retention-store.ts';

/** Runs that are counted in one go. */
const countedRuns = 500;
/** Runs whose texts are measured for a preview. */
const measuredRuns = 200;

/** Keeps an even choice of everything that it is shown, of `measuredRuns` to twice as many. */
function createEvenChoice() {
  let chosen: number[] = [];
  let step = 1;
  let seen = 0;
  return {
    show(sequence: number): void {
      if (seen++ % step === 0) chosen.push(sequence);
      if (chosen.length < 2 * measuredRuns) return;
      chosen = chosen.filter((_, index) => index % 2 === 0);
      step *= 2;
    },
    all: (): readonly number[] => chosen,
  };
}

/** What a retention of runs made before a moment would change, counted slice by slice; its bytes are an estimate from some of them. */
export async function previewRetention(
  store: RetentionStore,
  { mode, before }: { mode: RetentionMode; before: number },
  { signal }: { signal: AbortSignal },
): Promise<RetentionPreview> {
  const conversations = new Set<number>();
  const choice = createEvenChoice();
  let runs = 0;
  let oldest: number | null = null;
  let position: OldRunPosition | null = null;
  for (;;) {
    const found: OldRunPosition[] = store.find(mode, before, position, countedRuns);
    for (const { conversation, createdAt, sequence } of found) {
      conversations.add(conversation);
      choice.show(sequence);
      oldest = oldest === null ? createdAt : Math.min(oldest, createdAt);
    }
    runs += found.length;
    position = found.at(-1) ?? null;
    if (found.length < countedRuns) break;
    await wait(0, undefined, { signal });
  }
  const measured = choice.all();
  const bytes = measured.reduce((sum, sequence) => sum + store.textBytes(sequence), 0);
  return {
    before: new Date(before).toISOString(),
    runs,
    conversations: conversations.size,
    oldest: oldest === null ? null : new Date(oldest).toISOString(),
    bytes: measured.length === 0 ? 0 : Math.round((bytes * runs) / measured.length),
  };
}
