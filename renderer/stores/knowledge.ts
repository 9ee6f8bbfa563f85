import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';
import type { Client } from '../host/client.ts';
import { type DraftChange, noGrounding, onDeviceChoice, useDrafts } from './playground-drafts.ts';
import { startCompletion } from './completion-runs.ts';
import type { CompletionSlot } from './live-runs.ts';
import { usePlaygroundView } from './playground-view.ts';
import { createSource, maximumSourceBytes } from '../../shared/contract/dataspaces.ts';
import { describeError } from '../components/state-panels.tsx';

type AnswerModel = Pick<Model, 'aiSystem' | 'name'>;

/** The model that answers questions to dataspaces. */
export const useAnswerModel = create<AnswerModel>()(
  persist((): AnswerModel => ({ aiSystem: onDeviceChoice.aiSystem, name: onDeviceChoice.model }), {
    name: 'knowledge-answer-model',
    version: 1,
  }),
);

/** The slot of the newest answer from a dataspace. */
export function answerSlot(dataspaceId: string): CompletionSlot {
  return `dataspace/${dataspaceId}`;
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

/** Streams an answer from a dataspace with the chosen model. Resolves at its end: completed, stopped or failed. */
export async function askDataspace(client: Client, { dataspaceId, question, onRunId }: DataspaceQuestion) {
  await startCompletion(client, answerSlot(dataspaceId), {
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

/** A file that is being uploaded to a dataspace. A finished upload is a source and no longer listed here. */
export interface Upload {
  id: number;
  dataspaceId: string;
  name: string;
  bytes: number;
  /** Share of it that the host has received, 0 to 1. */
  fraction: number;
  state: 'waiting' | 'sending' | 'rejected';
  /** Why it was rejected, as a sentence for the screen. */
  reason: string | null;
}

interface UploadState {
  uploads: readonly Upload[];
}

/** A file that a person picked or dropped, and the name of its source. */
export interface ChosenFile {
  file: File;
  name: string;
}

/** A longer path keeps its end, which is more specific. */
const maxSourceNameCharacters = 300;

/** More would not be faster: the host parses one file after the other. */
const maxConcurrency = 2;

export const useUploads = create<UploadState>()(() => ({ uploads: [] }));

const files = new Map<number, { file: File; stop: AbortController }>();
let lastId = 0;
let sending = 0;

function change(id: number, part: Partial<Upload>): void {
  useUploads.setState(({ uploads }) => ({
    uploads: uploads.map((upload) => (upload.id === id ? { ...upload, ...part } : upload)),
  }));
}

/** Removes an upload and aborts it if it is active. */
export function dismissUpload(id: number): void {
  files.get(id)?.stop.abort();
  files.delete(id);
  useUploads.setState(({ uploads }) => ({ uploads: uploads.filter((upload) => upload.id !== id) }));
}

async function send(client: Client, { id, name, dataspaceId }: Upload): Promise<void> {
  const { file, stop } = files.get(id)!;
  change(id, { state: 'sending' });
  try {
    await client.upload(createSource, {
      fields: { name, dataspaceId },
      file,
      signal: stop.signal,
      onProgress: (fraction) => change(id, { fraction }),
    });
    dismissUpload(id);
  } catch (error) {
    files.delete(id);
    if (!stop.signal.aborted) change(id, { state: 'rejected', reason: describeError(error).message });
  }
}

function sendNext(client: Client): void {
  const next = useUploads.getState().uploads.find(({ state }) => state === 'waiting');
  if (!next || sending >= maxConcurrency) return;
  sending += 1;
  void send(client, next).finally(() => {
    sending -= 1;
    sendNext(client);
  });
  sendNext(client);
}

/** Why the host would reject a file, as far as the window can check; null if it may be sent. */
function rejectionOf(file: File): string | null {
  if (file.size === 0) return 'The file is empty.';
  return file.size > maximumSourceBytes ? 'The file is larger than 50 MB. Split it and add the parts.' : null;
}

/** Removes all rejected files of a dataspace from the list. */
export function dismissRejected(dataspaceId: string): void {
  useUploads.setState(({ uploads }) => ({
    uploads: uploads.filter((upload) => upload.dataspaceId !== dataspaceId || upload.state !== 'rejected'),
  }));
}

/** Sends files to a dataspace, a few at a time. Rejected files stay listed with their reason. */
export function uploadFiles(client: Client, dataspaceId: string, chosen: readonly ChosenFile[]): void {
  const added = chosen.map(({ file, name }): Upload => {
    lastId += 1;
    const reason = rejectionOf(file);
    if (reason === null) files.set(lastId, { file, stop: new AbortController() });
    return {
      id: lastId,
      dataspaceId,
      name: name.slice(-maxSourceNameCharacters),
      bytes: file.size,
      fraction: 0,
      state: reason === null ? 'waiting' : 'rejected',
      reason,
    };
  });
  useUploads.setState(({ uploads }) => ({ uploads: [...uploads, ...added] }));
  sendNext(client);
}
