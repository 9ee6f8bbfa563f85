import { AppError } from '../../shared/app-error.ts';
import { readProviderExchanges } from '../../shared/contract/provider-exchanges.ts';
import { followReasoning, listRuns, readRun } from '../../shared/contract/runs.ts';
import type { Completions } from '../completions/completions.ts';
import type { Run } from '../completions/run.ts';
import type { Log } from '../log.ts';
import type { ProviderExchanges } from '../provider-exchanges/create-provider-exchanges.ts';
import type { RunStore } from '../storage/storage.ts';
import { readAnywhere, type TeamRecords } from '../team/team-records.ts';
import { eventQueue, followResponse } from './stream-response.ts';
import { type Handler, implement } from './api.ts';

const defaultPageSize = 20;

const unknownRun = () => new AppError('not_found', 'There is no run with this id.');

async function* nothing(): AsyncGenerator<never, void, void> {}

async function* reasoningOf(run: Run, signal: AbortSignal): AsyncGenerator<{ text: string }, void, void> {
  const queue = eventQueue<string>({ signal, merge: (pending, next) => pending + next });
  if (run.reasoning !== '') queue.push(run.reasoning);
  const unfollow = run.followReasoning(queue.push);
  void run.recorded.then(queue.end);
  try {
    for await (const text of queue) yield { text };
  } finally {
    unfollow();
  }
}

export interface RunHandlerOptions {
  readonly runs: RunStore;
  readonly team: TeamRecords;
  readonly completions: Completions;
  readonly exchanges: Pick<ProviderExchanges, 'read'>;
  readonly log: Log;
}

export function runHandlers({ runs, team, completions, exchanges, log }: RunHandlerOptions): Handler[] {
  return [
    implement(listRuns, ({ query }) =>
      runs.list({
        pageSize: query.pageSize ?? defaultPageSize,
        continuationToken: query.continuationToken,
        draftId: query.draftId,
      }),
    ),
    implement(readRun, async ({ parameters }) => {
      const run = await readAnywhere(parameters.id.toLowerCase(), runs, team);
      if (run === null) throw unknownRun();
      return run;
    }),
    implement(readProviderExchanges, async ({ parameters }) => {
      const runId = parameters.id.toLowerCase();
      // A window that stops a run sends this request shortly before the run has ended here.
      await completions.active(runId)?.recorded;
      const data = exchanges.read(runId);
      if (data.length === 0 && runs.read(runId) === null) throw unknownRun();
      return { data };
    }),
    implement(followReasoning, (input) => {
      const runId = input.parameters.id.toLowerCase();
      const run = completions.active(runId);
      if (run === null && runs.read(runId) === null) throw unknownRun();
      // The run has just ended. Its reasoning is stored with it.
      return followResponse(input, (signal) => (run === null ? nothing() : reasoningOf(run, signal)), log);
    }),
  ];
}
