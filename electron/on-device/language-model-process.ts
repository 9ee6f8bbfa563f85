/**
 * Entry point of the language model's process; started by `language-model-engine.ts`. It exits when the connection to its parent
 * ends, for any reason.
 */
import { registerHooks } from 'node:module';
import { constants, setPriority } from 'node:os';
import { connectToParent } from '../child-process/parent-connection.ts';
import type { EngineMessage, EngineRequest, HostMessage, LoadFailure } from './engine-process.ts';
import { loadModel, type LoadedModel } from './loaded-model.ts';

// Before the inference library is loaded, because its threads inherit the priority at their start.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

// On Linux, node-llama-cpp first loads its binary in a process that it forks. This process may crash instead, and a packaged
// Electron can't be forked: the library would start the whole application a second time.
registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('/node-llama-cpp/dist/bindings/utils/testBindingBinary.js')
      ? { format: 'module', shortCircuit: true, source: 'export const testBindingBinary = async () => true;' }
      : nextLoad(url, context),
});

let model: Promise<LoadedModel> | null = null;
const answering = new Map<number, AbortController>();

const { send, onMessage } = connectToParent<HostMessage, EngineMessage>();

function toLoadFailure(error: unknown): LoadFailure {
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const name = error instanceof Error ? error.constructor.name : '';
  if (name === 'InsufficientMemoryError') return { reason: 'memory', details };
  if (name === 'NoBinaryFoundError') return { reason: 'platform', details };
  return { reason: 'file', details };
}

async function load(modelPath: string, threads: number | null): Promise<void> {
  model = loadModel(modelPath, threads);
  try {
    send({ type: 'loaded', contextTokens: (await model).contextTokens });
  } catch (error) {
    send({ type: 'load-failed', failure: toLoadFailure(error) });
  }
}

async function answer(id: number, request: EngineRequest): Promise<void> {
  const controller = new AbortController();
  answering.set(id, controller);
  try {
    if (!model) throw new Error('A question came before the model was loaded');
    const callbacks = {
      onPrompt: (text: string) => send({ type: 'prompt', id, text }),
      onText: (text: string) => send({ type: 'text', id, text }),
      onReasoning: (text: string) => send({ type: 'reasoning', id, text }),
    };
    const outcome = await (await model).answer(request, callbacks, controller.signal);
    if (outcome.type === 'too-long') return send({ ...outcome, id });
    const { promptTokens, answerTokens } = outcome;
    send({
      type: 'finished',
      id,
      finishReason: outcome.isCut ? 'Length' : 'Stop',
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: answerTokens,
        total_tokens: promptTokens + answerTokens,
      },
    });
  } catch (error) {
    if (controller.signal.aborted) send({ type: 'cancelled', id });
    else send({ type: 'failed', id, details: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  } finally {
    answering.delete(id);
  }
}

onMessage((message) => {
  if (message.type === 'load') void load(message.modelPath, message.threads);
  else if (message.type === 'answer') void answer(message.id, message.request);
  else answering.get(message.id)?.abort();
});
