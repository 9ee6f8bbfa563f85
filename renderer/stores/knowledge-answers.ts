import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';
import type { Client } from '../host/client.ts';
import { noGrounding, onDeviceChoice, useDrafts, type DraftChange } from './playground-drafts.ts';
import { useLiveRuns } from './playground-runs.ts';
import { usePlaygroundView } from './playground-view.ts';

type AnswerModel = Pick<Model, 'aiSystem' | 'name'>;

/** The model that answers questions to dataspaces. */
export const useAnswerModel = create<AnswerModel>()(
  persist((): AnswerModel => ({ aiSystem: onDeviceChoice.aiSystem, name: onDeviceChoice.model }), {
    name: 'knowledge-answer-model',
    version: 1,
  }),
);

/** The newest answer of each dataspace is a live run with this key. */
export function answerKey(dataspaceId: string): string {
  return `knowledge/${dataspaceId}`;
}

/** The question is a variable's value: braces in it are text, not a template. */
export function answerRequest(dataspaceId: string, question: string, { aiSystem, name }: AnswerModel) {
  return {
    aiSystem,
    model: name,
    promptText: '{{question}}',
    replacements: { question },
    dataspaceIds: [dataspaceId],
  } satisfies CompletionRequest;
}

/** The question of an answer that `askDataspace` started. */
export function questionOf({ replacements }: CompletionRequest): string {
  const question = replacements?.['question'];
  return typeof question === 'string' ? question : '';
}

export interface DataspaceQuestion {
  dataspaceId: string;
  question: string;
  onRunId: () => void;
}

/** Streams an answer from a dataspace with the chosen model; resolves when it has ended in any way. */
export async function askDataspace(client: Client, { dataspaceId, question, onRunId }: DataspaceQuestion) {
  await useLiveRuns.getState().start(client, {
    draftId: answerKey(dataspaceId),
    request: answerRequest(dataspaceId, question, useAnswerModel.getState()),
    transport: 'sse',
    hasReasoning: false,
    onRunId,
  });
}

const maxNameCharacters = 60;

/** Creates a draft that is grounded on a dataspace, with the question as its prompt if there is one. Returns its id. */
export function createGroundedDraft({ id, name }: { id: string; name: string }, question: string): string {
  const { aiSystem, name: model } = useAnswerModel.getState();
  const isTemplate = question.includes('{{') || question.includes('\\');
  const prompt: DraftChange = isTemplate
    ? { promptText: '{{question}}', values: { question } }
    : { promptText: question };
  usePlaygroundView.setState({ isGroundingOpen: true });
  return useDrafts.getState().create({
    ...prompt,
    name: (question === '' ? name : question).slice(0, maxNameCharacters),
    aiSystem,
    model,
    grounding: { ...noGrounding, dataspaceIds: [id] },
  });
}
