import type { ToolCall } from '../../shared/contract/tools.ts';
import type { ScriptedCall } from './scripted-provider.ts';

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };

function chatCalls(called: readonly ToolCall[]) {
  return called.map(({ id, name, arguments: text }) => ({ id, type: 'function', function: { name, arguments: text } }));
}

/** A whole or a streamed response that calls tools, as OpenAI's chat completions send it. */
export async function answerCalls(
  call: ScriptedCall,
  called: readonly ToolCall[],
  content: string | null = null,
): Promise<void> {
  const head = { id: 'chatcmpl-1', created: 1_780_000_000, model: 'scripted' };
  if (call.body['stream'] !== true) {
    const message = { role: 'assistant', content, tool_calls: chatCalls(called) };
    call.json(200, { ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage });
    return;
  }
  call.openEventStream();
  const send = (delta: object, finish_reason: string | null = null) =>
    call.event({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  if (content !== null) await send({ content });
  for (const [index, { id, name, arguments: text }] of called.entries()) {
    await send({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    const middle = Math.ceil(text.length / 2);
    for (const part of [text.slice(0, middle), text.slice(middle)])
      await send({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  await send({}, 'tool_calls');
  await call.event({ ...head, choices: [], usage });
  await call.event('[DONE]');
  call.end();
}
