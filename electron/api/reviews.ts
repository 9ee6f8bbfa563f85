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
import { listDisagreements, readReviewAgreement } from '../../shared/contract/review-agreement.ts';
import {
  calibrateFromReviews,
  createReviewDataset,
  exportReviewQueue,
  type ReviewExportFormat,
} from '../../shared/contract/review-exports.ts';
import { downloadReviewQueue, importReviewQueue, mergeReviewQueue } from '../../shared/contract/review-files.ts';
import {
  addReviewComment,
  listReviewItems,
  readReviewItem,
  requestSecondReview,
} from '../../shared/contract/review-items.ts';
import {
  createReviewQueue,
  deleteReviewQueue,
  listReviewQueues,
  previewReviewQueue,
  readReviewQueue,
  updateReviewQueue,
} from '../../shared/contract/review-queues.ts';
import { adjudicateItem, releaseItem, reserveItem, skipItem, submitReview } from '../../shared/contract/reviews.ts';
import type { ReviewCaller, Reviewers } from '../reviews/create-reviewers.ts';
import type { ReviewServices } from '../reviews/create-review-services.ts';
import type { Team } from '../team/create-team.ts';
import type { RubricStore } from '../storage/reviews/rubric-store.ts';
import { type Caller, type Handler, type HandlerInput, implement, requireManage } from './api.ts';
import { fileReaderOf } from './files.ts';
import { sendTextFile } from './stream-response.ts';
import { toListQuery } from './validation.ts';

type CallOf = Pick<HandlerInput<unknown, unknown, unknown>, 'caller' | 'headers'>;

/** Only the window can act as several people: an API key is one reviewer. */
export function reviewCallerOf({
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
      const mayReset = input.caller.key !== null;
      return reviewers.update(input.parameters.id, input.body, { ...reviewCallerOf(input), mayReset });
    }),
    implement(deleteReviewer, (input) => {
      requireManage(input.caller);
      const mayReset = input.caller.key !== null;
      return reviewers.remove(input.parameters.id, { ...reviewCallerOf(input), mayReset });
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

const defaultItems = 50;

function queueHandlers({ queues, reviewers }: ReviewServices, team: Pick<Team, 'servesApi'>): Handler[] {
  const find = (input: CallOf) => reviewers.find(reviewCallerOf(input));
  // Only a host with `--team` shows the runs of other hosts to programs.
  const callOf = ({ caller, signal }: { caller: Caller; signal: AbortSignal }) => ({
    readsTeam: team.servesApi || caller.key === null,
    signal,
  });
  return [
    implement(listReviewQueues, ({ query }) => queues.list(toListQuery(query))),
    implement(createReviewQueue, (input) => {
      requireManage(input.caller);
      return queues.create(input.body, find(input), callOf(input));
    }),
    implement(previewReviewQueue, (input) => queues.preview(input.body, callOf(input))),
    implement(readReviewQueue, (input) => queues.read(input.parameters.id, find(input))),
    implement(updateReviewQueue, (input) => {
      requireManage(input.caller);
      return queues.update(input.parameters.id, input.body, find(input));
    }),
    implement(deleteReviewQueue, ({ parameters, caller }) => {
      requireManage(caller);
      return queues.remove(parameters.id);
    }),
    implement(listReviewItems, (input) => {
      const { view = 'all', offset = 0, limit = defaultItems } = input.query;
      return queues.items(input.parameters.id, { view, offset, limit }, find(input));
    }),
  ];
}

const canDecide = ({ scopes }: Caller) => scopes.includes('manage');

function itemHandlers({ reviews, reviewers, discussion }: ReviewServices): Handler[] {
  const find = (input: CallOf) => reviewers.find(reviewCallerOf(input));
  const require = (input: CallOf) => reviewers.require(reviewCallerOf(input));
  return [
    implement(readReviewItem, (input) =>
      reviews.read(input.parameters, { you: find(input), canDecide: canDecide(input.caller) }),
    ),
    implement(reserveItem, async (input) => {
      const reserved = await reviews.reserve(input.parameters.id, input.body.itemId, require(input));
      return reserved ?? new Response(null, { status: 204 });
    }),
    implement(releaseItem, (input) => reviews.release(input.parameters.id, find(input))),
    implement(submitReview, (input) => {
      const { answers, note = null } = input.body;
      return reviews.submit(input.parameters, { answers, note }, require(input));
    }),
    implement(skipItem, (input) => reviews.skip(input.parameters, input.body.reason, require(input))),
    implement(requestSecondReview, (input) =>
      discussion.requestSecond(input.parameters, input.body.reason ?? null, {
        you: require(input),
        canDecide: canDecide(input.caller),
      }),
    ),
    implement(addReviewComment, (input) =>
      discussion.comment(input.parameters, input.body.text, {
        you: require(input),
        canDecide: canDecide(input.caller),
      }),
    ),
    implement(adjudicateItem, (input) => {
      requireManage(input.caller);
      return reviews.decide(input.parameters, input.body.answers, require(input));
    }),
  ];
}

const defaultDisagreements = 20;

function resultHandlers({ agreement, findDisagreements, reviewers }: ReviewServices): Handler[] {
  return [
    implement(readReviewAgreement, ({ parameters, query: { rubricItemId, ...values }, signal }) => {
      const meaning = rubricItemId === undefined ? undefined : { rubricItemId: rubricItemId.toLowerCase(), ...values };
      return agreement.measure(parameters.id, { signal, meaning });
    }),
    implement(listDisagreements, (input) => {
      const { query, parameters, caller, signal } = input;
      const lower = (id: string | undefined) => id?.toLowerCase() ?? null;
      const search = {
        rubricItemId: query.rubricItemId.toLowerCase(),
        first: lower(query.first),
        second: lower(query.second),
        against: lower(query.against),
        passValue: query.passValue,
        flaggedValue: query.flaggedValue,
        firstValue: query.firstValue ?? null,
        secondValue: query.secondValue ?? null,
        isUndecided: query.isUndecided === undefined ? null : query.isUndecided === 'true',
        offset: query.offset ?? 0,
        limit: query.limit ?? defaultDisagreements,
      };
      const reader = { you: reviewers.find(reviewCallerOf(input)), canDecide: canDecide(caller) };
      return findDisagreements(parameters.id, search, { reader, signal });
    }),
  ];
}

const exportTypes: Readonly<Record<ReviewExportFormat, readonly [mediaType: string, extension: string]>> = {
  csv: ['text/csv; charset=utf-8', 'csv'],
  preferences: ['application/jsonl', 'preferences.jsonl'],
  evidence: ['text/html; charset=utf-8', 'html'],
};

function exportHandlers({ exports }: ReviewServices): Handler[] {
  const callOf = ({ caller, signal }: { caller: Caller; signal: AbortSignal }) => ({
    canDecide: canDecide(caller),
    reader: fileReaderOf(caller),
    signal,
  });
  return [
    implement(exportReviewQueue, async (input) => {
      const { format } = input.query;
      return sendTextFile(
        `reviews.${exportTypes[format][1]}`,
        exportTypes[format][0],
        await exports.write(input.parameters.id, format, callOf(input)),
      );
    }),
    implement(createReviewDataset, (input) => {
      requireManage(input.caller);
      return exports.createDataset(input.parameters.id, input.body, callOf(input));
    }),
    implement(calibrateFromReviews, (input) => {
      requireManage(input.caller);
      return exports.calibrate(input.parameters.id, input.body, callOf(input));
    }),
  ];
}

function fileHandlers({ files, queues, reviewers }: ReviewServices): Handler[] {
  return [
    implement(downloadReviewQueue, ({ parameters, caller, signal }) => {
      requireManage(caller);
      const { name } = queues.read(parameters.id, null);
      const fileName = `${name.replaceAll(/[^\w -]/g, '').trim() || 'queue'}.review-queue.jsonl`;
      return sendTextFile(fileName, 'application/jsonl', files.write(parameters.id, signal));
    }),
    implement(importReviewQueue, async (input) => {
      requireManage(input.caller);
      let id = '';
      await input.readForm(async ({ content }) => {
        id = await files.import(content);
      });
      return queues.read(id, reviewers.find(reviewCallerOf(input)));
    }),
    implement(mergeReviewQueue, async ({ parameters, caller, readForm }) => {
      requireManage(caller);
      let result = { added: 0, known: 0, comments: 0, commentsLeftOut: 0 };
      await readForm(async ({ content }) => {
        result = await files.merge(parameters.id, content);
      });
      return result;
    }),
  ];
}

/** Reviewers, rubrics and review queues. */
export function reviewHandlers(
  services: ReviewServices,
  rubrics: RubricStore,
  team: Pick<Team, 'servesApi'>,
): Handler[] {
  return [
    ...reviewerHandlers(services.reviewers),
    ...rubricHandlers(rubrics),
    // Before the path with an ID, which would match `import`.
    ...fileHandlers(services),
    ...queueHandlers(services, team),
    ...itemHandlers(services),
    ...resultHandlers(services),
    ...exportHandlers(services),
  ];
}
