import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { PreparedRun } from './prepare-run.ts';
import type { RunPlan } from './run.ts';

type Messages = RunPlan['request']['messages'];

/** A conversation as one text, as it is kept with the run. */
function sentText(messages: Messages): string {
  const [only] = messages;
  if (messages.length === 1) return only!.content;
  return messages.map(({ role, content }) => `${role}: ${content}`).join('\n\n');
}

/** How a run finds its passages; null when it has no dataspaces to find them in. */
export function groundRequest(prepared: PreparedRun, grounding: Grounding): RunPlan['ground'] {
  const { context, systemMessage, target } = prepared;
  const choice = context.grounding ?? {};
  const dataspaceIds = prepared.dataspaceIds ?? [];
  if (dataspaceIds.length === 0 && !choice.only) return null;
  return async ({ signal }) => {
    const { messages, configuration, citations } = await grounding.ground(
      { ...prepared, dataspaceIds, choice, history: context.turn?.history ?? [] },
      { signal },
    );
    return {
      request: {
        model: target.model,
        systemMessage,
        messages: [...(context.turn?.history ?? []), ...messages],
        configuration,
      },
      citations,
      sentPrompt: sentText(messages),
    };
  };
}
