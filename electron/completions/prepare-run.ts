import type { CompletionRequest, Configuration, Warning } from '../../shared/contract/completions.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { ResolvedModel } from '../providers/model-resolver.ts';
import type { RunContext } from './completions.ts';
import { renderPrompt } from './render-prompt.ts';

/** A request that was found good, before its run begins. */
export interface PreparedRun {
  readonly request: CompletionRequest;
  readonly context: RunContext;
  /** Null for a request without dataspaces. */
  readonly dataspaceIds: readonly string[] | null;
  readonly systemMessage: string | null;
  readonly renderedPrompt: string;
  readonly target: ResolvedModel;
  /** What of the request's configuration the model takes. */
  readonly configuration: Configuration;
  readonly warnings: readonly Warning[];
}

export interface PreparationOptions {
  readonly providers: Pick<Providers, 'resolve' | 'applicableConfiguration'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
}

/** Throws `AppError` for a template that does not parse, an unknown model, a provider without a key and an unknown dataspace. */
export function prepareRun(
  request: CompletionRequest,
  context: RunContext,
  { providers, grounding }: PreparationOptions,
): PreparedRun {
  const dataspaceIds = request.dataspaceIds ? grounding.requireDataspaces(request.dataspaceIds) : null;
  const rendered = context.turn
    ? { text: request.promptText, warnings: [] }
    : renderPrompt(request.promptText, request.replacements ?? {});
  const target = providers.resolve(request.aiSystem, request.model);
  const { configuration, warnings } = providers.applicableConfiguration(target, request.configuration ?? {});
  return {
    request,
    context,
    dataspaceIds,
    systemMessage: request.systemMessage ?? null,
    renderedPrompt: rendered.text,
    target,
    configuration,
    warnings: [...rendered.warnings, ...warnings],
  };
}
