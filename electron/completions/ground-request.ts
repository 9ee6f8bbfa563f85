import type { Configuration } from '../../shared/contract/completions.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { ResolvedModel } from '../providers/model-resolver.ts';
import type { RunContext } from './create-completions.ts';
import type { RunPlan } from './run.ts';

interface PreparedPrompt {
  readonly context: RunContext;
  readonly dataspaceIds: readonly string[] | null;
  readonly systemMessage: string | null;
  readonly renderedPrompt: string;
  readonly target: ResolvedModel;
  readonly configuration: Configuration;
}

type Messages = RunPlan['request']['messages'];

/** A conversation as one text, as it is kept with the run. */
function sentText(messages: Messages): string {
  const [only] = messages;
  if (messages.length === 1) return only!.content;
  return messages.map(({ role, content }) => `${role}: ${content}`).join('\n\n');
}

/** How a run finds its passages; null when it has no dataspaces to find them in. */
export function groundRequest(prepared: PreparedPrompt, grounding: Grounding): RunPlan['ground'] {
  const { context, systemMessage, target } = prepared;
  const choice = context.grounding ?? {};
  const dataspaceIds = prepared.dataspaceIds ?? [];
  if (dataspaceIds.length === 0 && !choice.only) return null;
  return async ({ signal }) => {
    const { messages, configuration, citations } = await grounding.ground(
      { ...prepared, dataspaceIds, choice },
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
