import { AppError } from '../../shared/app-error.ts';
import type { Citation, CompletionChunk, Usage, Warning } from '../../shared/contract/completions.ts';
import type { ToolCall, ToolCallChunk } from '../../shared/contract/tools.ts';
import { followReasoning } from '../../shared/contract/runs.ts';
import type { Client, WireFrame, WireObserver } from '../host/client.ts';

/** The wire data of one run. `frames` only grows and keeps its identity: a new state of the run copies nothing. */
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

/** One run in the window. Each rendered state is a new object. */
export interface RunProgress {
  /** Created by the window. The host's `runId` arrives with the head of the response. */
  key: string;
  runId: string | null;
  /** Null until the host has sent it, unless the request names the conversation. */
  conversationId: string | null;
  state: RunState;
  /** Milliseconds since 1970. */
  sentAt: number;
  /** Milliseconds of `performance.now()`; the others are on the same clock. */
  startedAt: number;
  /** Of the reasoning, if the model reasons. */
  firstTokenAt: number | null;
  endedAt: number | null;
  text: string;
  /** The arguments of the last ones may be incomplete while the run is active. */
  toolCalls: readonly ToolCall[];
  reasoning: string;
  isReasoningLive: boolean;
  usage: Usage | null;
  finishReason: string | null;
  warnings: readonly Warning[];
  /** The passages that the model was given. The host sends them at the end. */
  citations: readonly Citation[];
  servedBy: string | null;
  credits: number | null;
  error: AppError | null;
  wire: WireLog;
  /** When this state began, on the clock of `startedAt`. */
  changedAt: number;
  /** Length of `wire.frames` in this state. */
  frameCount: number;
}

/** An answer that arrives in one response. */
export interface WholeAnswer {
  runId: string;
  conversationId?: string;
  text: string;
  toolCalls?: readonly ToolCall[] | undefined;
  finishReason: string | null;
  usage: Usage;
  warnings?: readonly Warning[] | undefined;
  citations?: readonly Citation[] | undefined;
}

export interface RunSource {
  /** Whether the head of the response comes with the first token. */
  isStreamed: boolean;
  /** Whether reasoning may come. Public streams leave it out; the window reads it from a separate endpoint. */
  hasReasoning: boolean;
  open(
    client: Client,
    options: { signal: AbortSignal; wire: WireObserver },
  ): Promise<{ parts: AsyncIterable<CompletionChunk> } | { answer: WholeAnswer }>;
}

export interface FollowOptions<Details> {
  /** Additional details, such as the request. */
  details: Details;
  source: RunSource;
  signal: AbortSignal;
  /** Called with every change; the callback decides when to render. */
  onChange: (run: RunProgress & Details) => void;
}

export function isActive(run: Pick<RunProgress, 'state'> | null | undefined): boolean {
  return run?.state === 'connecting' || run?.state === 'streaming';
}

function newProgress(): RunProgress {
  const startedAt = performance.now();
  return {
    key: crypto.randomUUID(),
    runId: null,
    conversationId: null,
    state: 'connecting',
    sentAt: Date.now(),
    startedAt,
    firstTokenAt: null,
    endedAt: null,
    text: '',
    toolCalls: [],
    reasoning: '',
    isReasoningLive: false,
    usage: null,
    finishReason: null,
    warnings: [],
    citations: [],
    servedBy: null,
    credits: null,
    error: null,
    wire: { method: 'POST', path: '', headers: {}, body: '', frames: [], status: null, responseHeaders: [] },
    changedAt: startedAt,
    frameCount: 0,
  };
}

function applyHead(run: RunProgress, status: number, headers: Headers): void {
  const credits = headers.get('x-credits-consumed');
  run.wire = { ...run.wire, status, responseHeaders: [...headers] };
  run.runId = headers.get('x-run-id');
  run.conversationId = headers.get('x-conversation-id') ?? run.conversationId;
  run.servedBy = headers.get('x-served-by');
  run.credits = credits === null ? null : Number(credits);
}

/** Adds the next parts of calls. Calls that they don't change keep their identity, so that they aren't drawn again. */
export function withCallChunks(calls: readonly ToolCall[], chunks: readonly ToolCallChunk[]): readonly ToolCall[] {
  const next = [...calls];
  for (const { index, id, name, arguments: text } of chunks) {
    const call = next[index];
    if (call) next[index] = { ...call, arguments: call.arguments + text };
    else next.push({ id: id ?? '', name: name ?? '', arguments: text });
  }
  return next;
}

function applyChunk(run: RunProgress, chunk: CompletionChunk): void {
  run.runId = chunk.runId;
  run.text += chunk.choice.message.content ?? '';
  if (chunk.choice.message.toolCalls) run.toolCalls = withCallChunks(run.toolCalls, chunk.choice.message.toolCalls);
  run.finishReason = chunk.choice.finish_reason ?? run.finishReason;
  run.usage = chunk.usage ?? run.usage;
  run.warnings = chunk.warnings ?? run.warnings;
  run.citations = chunk.citations ?? run.citations;
}

function applyAnswer(run: RunProgress, answer: WholeAnswer): void {
  run.runId = answer.runId;
  run.conversationId = answer.conversationId ?? run.conversationId;
  run.firstTokenAt = performance.now();
  run.text = answer.text;
  run.toolCalls = answer.toolCalls ?? [];
  run.finishReason = answer.finishReason;
  run.usage = answer.usage;
  run.warnings = answer.warnings ?? [];
  run.citations = answer.citations ?? [];
}

/** Reads the reasoning of a run until the signal aborts or the run ends. A failure to read it doesn't fail the run. */
async function readReasoning(
  client: Client,
  run: RunProgress,
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

/** Between two tasks the window draws and takes input. Parts that arrived together would otherwise be one task. */
const maxTaskMs = 8;

/** Resolves in a new task. Timers would take a second each in a hidden window. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

function asAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('internal', "Couldn't read the answer. Run again, or open the run in the audit.", { cause });
}

/**
 * Starts a run and follows it to its end. Resolves with a run that completed, failed or was stopped by the signal, with the text
 * that arrived. It never rejects.
 */
export async function followRun<Details extends object>(
  client: Client,
  { details, source, signal, onChange }: FollowOptions<Details>,
): Promise<RunProgress & Details> {
  const run = { ...newProgress(), ...details };
  const reasoningEnd = new AbortController();
  let reasoning: Promise<void> = Promise.resolve();
  const snapshot = () => ({ ...run, changedAt: performance.now(), frameCount: run.wire.frames.length });
  const change = (): void => onChange(snapshot());

  const wire: WireObserver = {
    onRequest: ({ method, path, headers, body }) => {
      run.wire = { ...run.wire, method, path, headers, body: typeof body === 'string' ? body : '' };
      change();
    },
    onHead: ({ status, headers }) => {
      applyHead(run, status, headers);
      if (status === 200) {
        run.state = 'streaming';
        if (source.isStreamed) run.firstTokenAt = performance.now();
        if (source.hasReasoning) {
          reasoning = readReasoning(client, run, AbortSignal.any([signal, reasoningEnd.signal]), change);
        }
      }
      change();
    },
    onFrame: (frame) => run.wire.frames.push(frame),
  };

  try {
    const opened = await source.open(client, { signal, wire });
    if ('answer' in opened) applyAnswer(run, opened.answer);
    else {
      let taskStartedAt = performance.now();
      for await (const chunk of opened.parts) {
        applyChunk(run, chunk);
        change();
        if (performance.now() - taskStartedAt < maxTaskMs) continue;
        await nextTask();
        taskStartedAt = performance.now();
      }
    }
    // Some transports end a stopped answer as if it were complete; only a complete one has a finish reason.
    run.state = signal.aborted && run.finishReason === null ? 'stopped' : 'completed';
  } catch (cause) {
    run.state = signal.aborted ? 'stopped' : 'failed';
    if (!signal.aborted) run.error = asAppError(cause);
  }
  run.endedAt = performance.now();
  reasoningEnd.abort();
  await reasoning;
  change();
  return snapshot();
}
