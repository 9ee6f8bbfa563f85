import {
  createCompletionEvents,
  createCompletionStream,
  createCompletionSync,
  type CompletionBody,
  type CompletionRequest,
} from '../../shared/contract/completions.ts';
import { createGroundedCompletion, type GroundingChoice } from '../../shared/contract/grounding.ts';
import type { Client } from '../host/client.ts';
import { startRun, stopRun, type CompletionRun, type CompletionSlot } from './live-runs.ts';
import { rememberComparedModel, rememberModel } from './model-choices.ts';
import { useDrafts, type Transport } from './playground-drafts.ts';
import type { RunSource } from './run-stream.ts';
import type { ToolStep } from './tool-steps.ts';

export interface CompletionOptions {
  request: CompletionRequest;
  /** The steps that it continues, the last one with the results to send. Empty or absent for a new run. */
  steps?: readonly ToolStep[];
  /** Passages that a person has chosen. Such a run is streamed as server-sent events, whichever transport is set. */
  choice?: GroundingChoice | null;
  transport: Transport;
  /** Whether the model may reason. */
  hasReasoning: boolean;
  /** Whether it runs beside the draft's own answer, on another model. */
  isCompared?: boolean;
  /** Called once, when the host has named the run. */
  onRunId?: (runId: string) => void;
}

/** The slot of a draft's own answer. */
export function draftSlot(draftId: string): CompletionSlot {
  return `draft/${draftId}`;
}

/** The slot of a compared model beside a draft's own answer. */
export function columnSlot(draftId: string, columnId: string): CompletionSlot {
  return `draft/${draftId}/${columnId}`;
}

/** The slot in the queue while the passages that a comparison shares are searched. */
export function passagesSlot(draftId: string): CompletionSlot {
  return `draft/${draftId}/passages`;
}

/** The slot in the queue between two automatic steps, when nothing runs yet. */
export function stepsSlot(draftId: string): CompletionSlot {
  return `draft/${draftId}/steps`;
}

/** A continuation names its run, which has the rest of the request. */
function bodyOf({ request, steps = [] }: CompletionOptions): CompletionBody {
  const last = steps.at(-1);
  if (!last) return request;
  if (last.runId === null) throw new TypeError('The run to continue is unknown');
  return { continueRunId: last.runId, toolResults: [...last.results], metadata: request.metadata };
}

export function completionSource(completion: CompletionOptions): RunSource {
  const { request, steps = [], choice, transport, hasReasoning } = completion;
  const body = bodyOf(completion);
  // The messages of a continued run have their passages.
  const isGrounded = choice != null && steps.length === 0;
  return {
    isStreamed: transport !== 'sync' || isGrounded,
    hasReasoning: hasReasoning && transport !== 'sync',
    open: async (client, options) => {
      if (isGrounded)
        return client.stream(createGroundedCompletion, { body: { ...request, grounding: choice }, ...options });
      if (transport === 'sse') return client.stream(createCompletionEvents, { body, ...options });
      if (transport === 'json-array') return client.stream(createCompletionStream, { body, ...options });
      const { choices, ...answer } = await client.call(createCompletionSync, {
        body,
        isLasting: true,
        ...options,
      });
      const [first] = choices;
      return {
        answer: {
          ...answer,
          text: first?.message.content ?? '',
          toolCalls: first?.message.toolCalls,
          finishReason: first?.finish_reason ?? null,
        },
      };
    },
  };
}

/** Runs a completion in a slot. Resolves at the end of the run: completed, stopped or failed. */
export function startCompletion(
  client: Client,
  slot: CompletionSlot,
  options: CompletionOptions,
): Promise<CompletionRun> {
  const { request, steps = [], transport, onRunId } = options;
  const run = startRun(client, slot, {
    details: { request, transport, steps },
    source: completionSource(options),
    onAccepted: ({ runId }) => onRunId?.(runId),
  });
  // After the request: it writes to the disk.
  const remember = options.isCompared ? rememberComparedModel : rememberModel;
  remember({ aiSystem: request.aiSystem, name: request.model });
  return run;
}

/** A deleted draft can neither show its runs nor stop them, so they end with it, those of its compared models included. */
useDrafts.subscribe(({ drafts }, before) => {
  if (drafts === before.drafts) return;
  const ids = new Set(drafts.map(({ id }) => id));
  for (const { id, compared } of before.drafts) {
    if (ids.has(id)) continue;
    stopRun(draftSlot(id));
    stopRun(passagesSlot(id));
    stopRun(stepsSlot(id));
    for (const column of compared ?? []) stopRun(columnSlot(id, column.id));
  }
});
