import type { ToolCall } from '../../shared/contract/tools.ts';
import type { ScriptedCall } from './scripted-provider.ts';

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

export function chatCalls(called: readonly ToolCall[]) {
  return called.map(({ id, name, arguments: text }) => ({ id, type: 'function', function: { name, arguments: text } }));
}

/** A whole or a streamed response that calls tools, as OpenAI's chat completions send it. */
export async function answerCalls(
  call: ScriptedCall,
  called: readonly ToolCall[],
  content: string | null = null,
): Promise<void> {
  if (call.body['stream'] === true) return call.chatCalls(called, content);
  const head = { id: 'chatcmpl-1', created: 1_780_000_000, model: 'scripted' };
  const message = { role: 'assistant', content, tool_calls: chatCalls(called) };
  call.json(200, { ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
}
