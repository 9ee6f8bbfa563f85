import { randomUUID } from 'node:crypto';
import type { ModelToolCall } from '../../../electron/providers/provider.ts';
import type { NewRun, RunOutcome } from '../../../electron/storage/run-rows.ts';

export function sampleRun(change: Partial<NewRun> = {}): NewRun {
  return {
    runId: randomUUID(),
    messageId: randomUUID(),
    conversationId: randomUUID(),
    workspaceId: null,
    callerId: '11111111-1111-4111-8111-111111111111',
    apiKeyId: null,
    promptId: null,
    promptVersionId: null,
    aiSystem: 'OpenAi',
    model: 'gpt-4o',
    servedBy: 'OpenAi/gpt-4o',
    createdAt: Date.UTC(2026, 10, 20, 9, 30, 0, 123),
    promptText: 'Translate {{text}}\ninto French',
    systemMessage: 'You are a translator.',
    replacements: { text: 'good morning', nested: { list: [1, null] } },
    renderedPrompt: 'Translate good morning\ninto French',
    configuration: { temperature: 0.5 },
    dataspaceIds: null,
    appHeaders: { team: 'red' },
    metadata: { ticket: 7 },
    warnings: [{ code: 'variable-unfilled', message: 'name is empty', variable: 'name' }],
    ...change,
  };
}

export function sampleOutcome(change: Partial<RunOutcome> = {}): RunOutcome {
  return {
    status: 'Completed',
    content: 'Bonjour \u{1F44B}\u0000 fin',
    reasoning: 'It is a greeting.',
    finishReason: 'Stop',
    error: null,
    usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
    cost: { amount: 0.000125, pricesFrom: '2026-11-22' },
    credits: 1,
    firstTokenMs: 120.5,
    totalMs: 345.25,
    completedAt: Date.UTC(2026, 10, 20, 9, 30, 1, 7),
    citations: [],
    ...change,
  };
}

/** A call with what its provider needs to get back. */
export function sampleCall(id: string): ModelToolCall {
  const providerState = { options: { google: { thoughtSignature: id } } };
  return { id, name: 'find', arguments: JSON.stringify({ id }), providerState };
}
