import { z } from 'zod';
import { uuid } from '../../shared/contract/common.ts';
import { type Message, textOfMessage } from '../../shared/contract/messages.ts';
import type { ToolCall, ToolResult } from '../../shared/contract/tools.ts';

/** An answer that called tools, with what they returned. The next run continued from it. */
export interface ToolStep {
  /** The run that called them. Null if it is unknown; the step can't be continued in another way then. */
  runId: string | null;
  text: string;
  calls: readonly ToolCall[];
  /** In the order of the calls. */
  results: readonly ToolResult[];
}

/** The tools that a message calls; empty for most messages. */
export function toolCallsIn(message: Message | undefined): ToolCall[] {
  return (message?.content ?? []).flatMap((part) => {
    if (part.type !== 'toolCall') return [];
    const { type: _, ...call } = part;
    return [call];
  });
}

/** The results that a message has; empty for most messages. */
export function resultsIn(message: Message | undefined): ToolResult[] {
  return (message?.content ?? []).flatMap((part) => {
    if (part.type !== 'toolResult') return [];
    const { type: _, ...result } = part;
    return [result];
  });
}

const runIdList = z.array(uuid);

/** The steps before a run, oldest first, from the messages that it sent. */
export function readSteps(messages: readonly Message[], metadata: Record<string, unknown> | null): ToolStep[] {
  const tools = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []));
  const named = runIdList.safeParse(metadata?.['continuedRunIds']).data ?? [];
  // Other callers can write any metadata.
  const runIds = named.length === tools.length ? named : [];
  return tools.flatMap((index, step) => {
    const answer = messages[index - 1];
    if (answer?.role !== 'assistant') return [];
    return {
      runId: runIds[step] ?? null,
      text: textOfMessage(answer),
      calls: toolCallsIn(answer),
      results: resultsIn(messages[index]),
    };
  });
}

/** The messages that continue a prompt: each step's answer and its results. */
export function messagesOfSteps(steps: readonly ToolStep[]): Message[] {
  return steps.flatMap(({ text, calls, results }): Message[] => [
    {
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls.map((call) => ({ type: 'toolCall' as const, ...call })),
      ],
    },
    {
      role: 'tool',
      content: results.map(({ isError = false, ...result }) => ({ type: 'toolResult', ...result, isError })),
    },
  ]);
}
