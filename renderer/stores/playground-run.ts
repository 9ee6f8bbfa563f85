import { AppError } from '../../shared/app-error.ts';
import {
  createCompletionEvents,
  createCompletionStream,
  createCompletionSync,
} from '../../shared/contract/completions.ts';
import type {
  Citation,
  CompletionAnswer,
  CompletionChunk,
  CompletionRequest,
  Usage,
  Warning,
} from '../../shared/contract/completions.ts';
import { createGroundedCompletion, type GroundingChoice } from '../../shared/contract/grounding.ts';
import { followReasoning } from '../../shared/contract/runs.ts';
import type { Client, WireFrame, WireObserver } from '../host/client.ts';
import type { Transport } from './playground-drafts.ts';

/** What went over the wire for one run. `frames` only ever grows and keeps its identity, so that looking costs nothing. */
export interface WireLog {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  frames: WireFrame[];
  status: number | null;
  responseHeaders: readonly (readonly [string, string])[];
}

export type RunState = 'connecting' | 'streaming' | 'completed' | 'stopped' | 'failed';

/** One run as the window follows it. A new object for each state that is drawn. */
export interface LiveRun {
  /** Made by the window; the host's `runId` is only known once it answers. */
  key: string;
  draftId: string;
  runId: string | null;
  state: RunState;
  request: CompletionRequest;
  transport: Transport;
  /** Milliseconds since 1970. */
  sentAt: number;
  /** Milliseconds of `performance.now()`; the others are on the same clock. */
  startedAt: number;
  /** Of the reasoning, if the model reasons. */
  firstTokenAt: number | null;
  endedAt: number | null;
  text: string;
  reasoning: string;
  isReasoningLive: boolean;
  usage: Usage | null;
  finishReason: string | null;
  warnings: readonly Warning[];
  /** The passages that were given to the model; told at the end. */
  citations: readonly Citation[];
  servedBy: string | null;
  credits: number | null;
  creditsRemaining: number | null;
  error: AppError | null;
  wire: WireLog;
  /** Length of `wire.frames` when this state was drawn. */
  frameCount: number;
}

export interface RunOptions {
  draftId: string;
  request: CompletionRequest;
  /** Passages that a person has chosen; such a run is streamed as server-sent events, whatever the transport. */
  choice?: GroundingChoice | null;
  transport: Transport;
  /** Whether reasoning may come, which the public stream leaves out and the host tells on the side. */
  hasReasoning: boolean;
  signal: AbortSignal;
  /** Called with every change; it decides when to draw. */
  onChange: (run: LiveRun) => void;
}

export function isUnderWay(run: LiveRun | undefined): boolean {
  return run?.state === 'connecting' || run?.state === 'streaming';
}

function newRun({ draftId, request, transport }: RunOptions): LiveRun {
  return {
    key: crypto.randomUUID(),
    draftId,
    runId: null,
    state: 'connecting',
    request,
    transport,
    sentAt: Date.now(),
    startedAt: performance.now(),
    firstTokenAt: null,
    endedAt: null,
    text: '',
    reasoning: '',
    isReasoningLive: false,
    usage: null,
    finishReason: null,
    warnings: [],
    citations: [],
    servedBy: null,
    credits: null,
    creditsRemaining: null,
    error: null,
    wire: { method: 'POST', path: '', headers: {}, body: '', frames: [], status: null, responseHeaders: [] },
    frameCount: 0,
  };
}

function headerNumber(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  return text === null ? null : Number(text);
}

function takeHead(run: LiveRun, status: number, headers: Headers): void {
  run.wire = { ...run.wire, status, responseHeaders: [...headers] };
  run.runId = headers.get('x-run-id');
  run.servedBy = headers.get('x-served-by');
  run.credits = headerNumber(headers, 'x-credits-consumed');
  run.creditsRemaining = headerNumber(headers, 'x-credits-remaining');
}

function takeChunk(run: LiveRun, chunk: CompletionChunk): void {
  run.runId = chunk.runId;
  run.text += chunk.choice.message.content ?? '';
  run.finishReason = chunk.choice.finish_reason ?? run.finishReason;
  run.usage = chunk.usage ?? run.usage;
  run.warnings = chunk.warnings ?? run.warnings;
  run.citations = chunk.citations ?? run.citations;
}

function takeAnswer(run: LiveRun, answer: CompletionAnswer, at: number): void {
  const [choice] = answer.choices;
  run.runId = answer.runId;
  run.firstTokenAt = at;
  run.text = choice?.message.content ?? '';
  run.finishReason = choice?.finish_reason ?? null;
  run.usage = answer.usage;
  run.warnings = answer.warnings ?? [];
  run.citations = answer.citations ?? [];
}

function openStream(client: Client, { request, choice, transport, signal }: RunOptions, wire: WireObserver) {
  if (choice) {
    return client.stream(createGroundedCompletion, { body: { ...request, grounding: choice }, signal, wire });
  }
  const endpoint = transport === 'sse' ? createCompletionEvents : createCompletionStream;
  return client.stream(endpoint, { body: request, signal, wire });
}

/** Reads the reasoning of a run beside its answer until the signal or the run ends it. A failure to read it doesn't fail the run. */
export async function readReasoning(
  client: Client,
  run: Pick<LiveRun, 'runId' | 'reasoning' | 'isReasoningLive'>,
  signal: AbortSignal,
  onChange: () => void,
): Promise<void> {
  if (run.runId === null) return;
  try {
    const { parts } = await client.stream(followReasoning, { parameters: { id: run.runId }, signal });
    for await (const { text } of parts) {
      run.reasoning += text;
      run.isReasoningLive = true;
      onChange();
    }
  } catch (cause) {
    if (!(cause instanceof AppError) && !signal.aborted) throw cause;
  } finally {
    run.isReasoningLive = false;
    onChange();
  }
}

function asAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('internal', 'The window could not read the answer. Run again; the run is kept in the history.', {
    cause,
  });
}

/**
 * Runs a prompt and follows it to its end, which it resolves with: completed, stopped by the signal or failed, always with the
 * text that came. It never rejects.
 */
export async function followRun(client: Client, options: RunOptions): Promise<LiveRun> {
  const { request, transport, signal } = options;
  const isStreamed = transport !== 'sync' || Boolean(options.choice);
  const run = newRun(options);
  const reasoningEnd = new AbortController();
  const change = (): void => options.onChange({ ...run, frameCount: run.wire.frames.length });
  let reasoning: Promise<void> = Promise.resolve();

  const wire = {
    onRequest: ({
      method,
      path,
      headers,
      body,
    }: {
      method: string;
      path: string;
      headers: WireLog['headers'];
      body: unknown;
    }) => {
      run.wire = { ...run.wire, method, path, headers, body: typeof body === 'string' ? body : '' };
      change();
    },
    onHead: ({ status, headers }: { status: number; headers: Headers }) => {
      takeHead(run, status, headers);
      if (status === 200) run.state = 'streaming';
      // The host sends the head of a stream with the first token, which may be one of the reasoning.
      if (status === 200 && isStreamed) run.firstTokenAt = performance.now();
      if (status === 200 && options.hasReasoning && transport !== 'sync') {
        reasoning = readReasoning(client, run, AbortSignal.any([signal, reasoningEnd.signal]), change);
      }
      change();
    },
    onFrame: (frame: WireFrame) => run.wire.frames.push(frame),
  };

  try {
    if (!isStreamed) {
      const answer = await client.call(createCompletionSync, { body: request, signal, wire, isLasting: true });
      takeAnswer(run, answer, performance.now());
    } else {
      const { parts } = await openStream(client, options, wire);
      for await (const chunk of parts) {
        takeChunk(run, chunk);
        change();
      }
    }
    // Some ways to the host end a stopped answer as if it were whole; only a whole one has a reason for its end.
    run.state = signal.aborted && run.finishReason === null ? 'stopped' : 'completed';
  } catch (cause) {
    run.state = signal.aborted ? 'stopped' : 'failed';
    if (!signal.aborted) run.error = asAppError(cause);
  }
  run.endedAt = performance.now();
  reasoningEnd.abort();
  await reasoning;
  change();
  return { ...run, frameCount: run.wire.frames.length };
}
