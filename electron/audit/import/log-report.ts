import type { AiSystem } from '../../../shared/contract/common.ts';
import type { LogReport } from '../../../shared/contract/log-imports.ts';
import { type CallSource, type ImportedRun, runIdsOf, runOfCall } from './call-run.ts';
import type { LeftOut, LogCall } from './log-call.ts';

const maxReasons = 50;
const maxCountedModels = 1000;
const otherReasons = 'Other entries';

/** Counts what a log has, while it is read. */
export class LogReporter {
  readonly #isStored: (runId: string) => boolean;
  readonly #ids = new Set<string>();
  readonly #conversations = new Set<string>();
  readonly #models = new Map<string, number>();
  readonly #reasons = new Map<string, number>();
  #duplicates = 0;
  #calls = 0;
  #times: [first: number, last: number] | null = null;
  readonly #counts = { withoutTime: 0, withoutAnswer: 0, withoutUsage: 0, costFromLog: 0, costFromCatalogue: 0 };

  constructor(isStored: (runId: string) => boolean) {
    this.#isStored = isStored;
  }

  /** The run of a call; null for an entry that isn't imported. */
  add(item: LogCall | LeftOut, source: CallSource): ImportedRun | null {
    if ('leftOut' in item) {
      const reason = this.#reasons.has(item.leftOut) || this.#reasons.size < maxReasons ? item.leftOut : otherReasons;
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
      return null;
    }
    const { runId: id, earlierId } = runIdsOf(item, source);
    if (this.#ids.has(id) || this.#isStored(id) || this.#isStored(earlierId)) {
      this.#duplicates += 1;
      return null;
    }
    this.#ids.add(id);
    const imported = runOfCall(item, source);
    this.#count(item, imported);
    return imported;
  }

  #count(call: LogCall, { run, outcome, costFrom }: ImportedRun): void {
    this.#calls += 1;
    this.#conversations.add(run.conversationId);
    const model = JSON.stringify([run.aiSystem, run.model]);
    if (this.#models.has(model) || this.#models.size < maxCountedModels) {
      this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
    }
    const counts = this.#counts;
    if (call.startedAt === null) counts.withoutTime += 1;
    else {
      const [first, last] = this.#times ?? [call.startedAt, call.startedAt];
      this.#times = [Math.min(first, call.startedAt), Math.max(last, call.startedAt)];
    }
    if (outcome.content === '' && outcome.toolCalls === undefined) counts.withoutAnswer += 1;
    if (outcome.usage === null) counts.withoutUsage += 1;
    if (costFrom === 'log') counts.costFromLog += 1;
    if (costFrom === 'catalogue') counts.costFromCatalogue += 1;
  }

  report(): LogReport {
    const isoTime = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString());
    return {
      calls: this.#calls,
      duplicates: this.#duplicates,
      conversations: this.#conversations.size,
      firstAt: isoTime(this.#times?.[0]),
      lastAt: isoTime(this.#times?.[1]),
      models: [...this.#models]
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, 20)
        .map(([key, calls]) => {
          const [aiSystem, model] = JSON.parse(key) as [AiSystem, string];
          return { aiSystem, model, calls };
        }),
      ...this.#counts,
      leftOut: [...this.#reasons]
        .toSorted(([, one], [, other]) => other - one)
        .map(([reason, entries]) => ({ reason, entries })),
    };
  }
}
