import {
  actAsReviewer,
  createReviewer,
  deleteReviewer,
  listReviewers,
  reviewerHeader,
  updateReviewer,
} from '../../shared/contract/reviewers.ts';
import {
  createRubric,
  createRubricVersion,
  deleteRubric,
  listRubrics,
  readRubric,
} from '../../shared/contract/rubrics.ts';
import type { ReviewCaller, Reviewers } from '../reviews/create-reviewers.ts';
import type { RubricStore } from '../storage/reviews/rubric-store.ts';
import { type Handler, type HandlerInput, implement, requireManage } from './api.ts';
import { toListQuery } from './validation.ts';

/** Only the window can act as several people: an API key is one reviewer. */
function reviewCallerOf({
  caller,
  headers,
}: Pick<HandlerInput<unknown, unknown, unknown>, 'caller' | 'headers'>): ReviewCaller {
  return { callerId: caller.callerId, token: caller.key === null ? headers.get(reviewerHeader) : null };
}

function reviewerHandlers(reviewers: Reviewers): Handler[] {
  return [
    implement(listReviewers, (input) => reviewers.list(toListQuery(input.query), reviewCallerOf(input))),
    implement(createReviewer, (input) => {
      requireManage(input.caller);
      return reviewers.create(input.body, reviewCallerOf(input));
    }),
    implement(updateReviewer, (input) => {
      requireManage(input.caller);
      return reviewers.update(input.parameters.id, input.body, reviewCallerOf(input));
    }),
    implement(deleteReviewer, ({ parameters, caller }) => {
      requireManage(caller);
      return reviewers.remove(parameters.id);
    }),
    implement(actAsReviewer, ({ parameters, body }) => reviewers.actAs(parameters.id, body.pin)),
  ];
}

function rubricHandlers(rubrics: RubricStore): Handler[] {
  return [
    implement(listRubrics, ({ query }) => rubrics.list(toListQuery(query))),
    implement(createRubric, ({ body, caller }) => {
      requireManage(caller);
      return rubrics.create(body);
    }),
    implement(readRubric, ({ parameters, query }) => rubrics.read(parameters.id, query.version ?? null)),
    implement(createRubricVersion, ({ parameters, body, caller }) => {
      requireManage(caller);
      return rubrics.addVersion(parameters.id, body);
    }),
    implement(deleteRubric, ({ parameters, caller }) => {
      requireManage(caller);
      return rubrics.remove(parameters.id);
    }),
  ];
}

/** Reviewers, rubrics and review queues. */
export function reviewHandlers(reviewers: Reviewers, rubrics: RubricStore): Handler[] {
  return [...reviewerHandlers(reviewers), ...rubricHandlers(rubrics)];
}
