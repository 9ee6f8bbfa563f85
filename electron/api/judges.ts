import {
  calibrateJudge,
  createJudge,
  deleteJudge,
  deleteJudgeLabels,
  type Judge,
  judgeRun,
  labelFromVotes,
  listJudges,
  readJudge,
  readJudgeLabels,
  setJudgeLabel,
  updateJudge,
} from '../../shared/contract/judges.ts';
import type { Comparisons } from '../comparisons/create-comparisons.ts';
import type { Judges } from '../comparisons/judge/create-judges.ts';
import { type Caller, type Handler, implement, readsPrompts } from './api.ts';
import { fileReaderOf } from './files.ts';
import { toListQuery } from './validation.ts';

function originOf({ callerId, key }: Caller) {
  return { callerId, key, appHeaders: {} };
}

/** The prompt and parameters of a judge are for the same keys as those of a comparison. */
function shownTo(caller: Caller, judge: Judge): Judge {
  return readsPrompts(caller) ? judge : { ...judge, promptText: '', configuration: null };
}

export function judgeHandlers(judges: Judges, comparisons: Pick<Comparisons, 'labelFromVotes'>): Handler[] {
  return [
    implement(listJudges, ({ query, caller }) => {
      const list = judges.list(toListQuery(query));
      return { ...list, data: list.data.map((judge) => shownTo(caller, judge)) };
    }),
    implement(createJudge, ({ body }) => judges.create(body)),
    implement(readJudge, ({ parameters, caller }) => shownTo(caller, judges.read(parameters.id))),
    implement(updateJudge, ({ parameters, body }) => judges.update(parameters.id, body)),
    implement(deleteJudge, ({ parameters }) => judges.remove(parameters.id)),
    implement(readJudgeLabels, ({ parameters }) => ({ data: judges.labels(parameters.id) })),
    implement(setJudgeLabel, ({ parameters, body, caller }) =>
      judges.setLabel(parameters.id, { runId: parameters.runId, ...body }, fileReaderOf(caller)),
    ),
    implement(labelFromVotes, ({ parameters, body, caller }) =>
      comparisons.labelFromVotes(parameters.id, body.blindVoteId, fileReaderOf(caller)),
    ),
    implement(deleteJudgeLabels, ({ parameters }) => judges.removeLabels(parameters.id)),
    implement(calibrateJudge, ({ parameters, caller, signal }) =>
      judges.calibrate(parameters.id, fileReaderOf(caller), { origin: originOf(caller), signal }),
    ),
    implement(judgeRun, ({ parameters, body, caller, signal }) => {
      const options = { origin: originOf(caller), signal };
      return judges.judgeRuns(parameters.id, [body.runId, body.otherRunId], fileReaderOf(caller), options);
    }),
  ];
}
