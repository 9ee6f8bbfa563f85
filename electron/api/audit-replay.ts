import {
  createReplay,
  deleteReplay,
  followReplays,
  listReplays,
  readReplayResults,
  resumeReplay,
  retryReplay,
  stopReplay,
} from '../../shared/contract/audit-replay.ts';
import type { Replays } from '../audit/replay/create-replays.ts';
import type { Log } from '../log.ts';
import { followAnswer } from './follow-answer.ts';
import { followList } from './follow-list.ts';
import { implement, type Handler } from './handler.ts';

const defaultPairs = 50;

export function auditReplayHandlers(replays: Replays, reportFailure: Log): Handler[] {
  return [
    implement(createReplay, ({ body, signal }) => replays.create(body, { signal })),
    implement(listReplays, () => ({ data: replays.list() })),
    implement(followReplays, (input) => followAnswer(input, (signal) => followList(replays, signal), reportFailure)),
    implement(readReplayResults, ({ parameters, query }) =>
      replays.results(parameters.id, { offset: query.offset ?? 0, limit: query.limit ?? defaultPairs }),
    ),
    implement(stopReplay, ({ parameters }) => replays.stop(parameters.id)),
    implement(resumeReplay, ({ parameters }) => replays.resume(parameters.id)),
    implement(retryReplay, ({ parameters }) => replays.retry(parameters.id)),
    implement(deleteReplay, ({ parameters }) => replays.remove(parameters.id)),
  ];
}
