import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ReviewQueue } from '../../shared/contract/review-queues.ts';
import { recordRun } from './audit-runs.ts';
import { callJson } from './json-call.ts';
import { type TestHost, type Way, ways } from './test-host.ts';

const [way] = ways;

/** What the guard noted about a run. */
export const flagged = {
  prompt: {
    mode: 'note',
    model: 'm',
    categories: ['hate'],
    categoryScores: null,
    milliseconds: 1,
    withheld: null,
    failure: null,
  },
  answer: null,
} as const;

/** Reviewers and queues of one host. */
export function createReviewWorld(hostOf: () => TestHost) {
  /** A reviewer with a separate key. */
  function reviewerCalled(name: string, scopes: ('audit' | 'manage')[] = ['audit']) {
    const key = hostOf().issueKey({ name, scopes });
    return (method: string, path: string, body?: unknown, each: Way = way) =>
      callJson(hostOf(), each, method, path, { key, ...(body === undefined ? {} : { body }) });
  }

  const lead = (method: string, path: string, body?: unknown, each: Way = way) =>
    callJson(hostOf(), each, method, path, body === undefined ? {} : { body });

  /** So many runs of one workspace, a conversation each; every fifth is flagged. */
  async function recordRuns(count: number, change: (index: number) => object = () => ({})) {
    const workspaceId = randomUUID();
    const runs = [];
    for (let index = 0; index < count; index += 1) {
      const outcome = index % 5 === 0 ? { moderation: flagged } : {};
      runs.push(
        await recordRun(
          hostOf().host,
          { workspaceId, renderedPrompt: `Question ${index}`, ...change(index) } as never,
          outcome as never,
        ),
      );
    }
    return { workspaceId, runs };
  }

  const rubricItems = [
    { kind: 'yesNo', question: 'Is it right?' },
    {
      kind: 'category',
      question: 'What went wrong?',
      isRequired: false,
      categories: [{ label: 'Policy' }, { label: 'Tone' }],
    },
    { kind: 'score', question: 'How useful is it?', isRequired: false },
    { kind: 'text', question: 'What should it have said?', isRequired: false, isCorrection: true },
  ];

  async function createQueue(filter: object, change: object = {}, each: Way = way) {
    const rubric = (await lead('POST', '/rubrics', { name: 'Refunds', items: rubricItems }, each)).body;
    const input = {
      name: 'November',
      filter,
      itemType: 'run',
      plan: { kind: 'all' },
      rubricId: rubric.id,
      seed: 7,
      ...change,
    };
    const created = await lead('POST', '/review-queues', input, each);
    expect([created.status, created.body]).toEqual([201, expect.any(Object)]);
    const queue = created.body as ReviewQueue;
    const [right, wrong, useful, text] = queue.rubric.items.map(({ id }) => id) as [string, string, string, string];
    const answers = (value: boolean, more: Record<string, unknown> = {}) => ({
      answers: [
        { rubricItemId: right, value },
        ...Object.entries({ [wrong]: more['wrong'], [useful]: more['useful'], [text]: more['text'] })
          .filter(([, given]) => given !== undefined)
          .map(([rubricItemId, given]) => ({ rubricItemId, value: given })),
      ],
    });
    return { queue, path: `/review-queues/${queue.id}`, rubric, answers, ids: { right, wrong, useful, text } };
  }

  return { reviewerCalled, lead, recordRuns, rubricItems, createQueue };
}
