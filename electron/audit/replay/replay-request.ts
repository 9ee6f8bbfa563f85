import { AppError } from '../../../shared/app-error.ts';
import { completionRequest, type CompletionRequest } from '../../../shared/contract/completions.ts';
import type { ReplayTarget } from '../../../shared/contract/audit-replay.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';

function configurationOf(original: RunDetail, change: ReplayTarget['configuration']): Record<string, unknown> | null {
  if (change === undefined) return original.input.configuration;
  const merged = Object.entries({ ...original.input.configuration, ...change }).filter(([, value]) => value !== null);
  return merged.length === 0 ? null : Object.fromEntries(merged);
}

/** The request that runs an original again with what the target changes. Throws `AppError` when it cannot be one. */
export function replayRequest(original: RunDetail, target: ReplayTarget): CompletionRequest {
  const promptText = target.promptText ?? original.input.promptText;
  if (promptText === '') {
    throw new AppError('conflict', 'The texts of this run were deleted, so it cannot be run again.');
  }
  const parsed = completionRequest.safeParse({
    promptText,
    systemMessage: target.systemMessage === undefined ? original.input.systemMessage : target.systemMessage,
    aiSystem: target.aiSystem ?? original.aiSystem,
    model: target.model ?? original.model,
    configuration: configurationOf(original, target.configuration),
    replacements: original.input.replacements,
    dataspaceIds: original.input.dataspaceIds,
    metadata: { replayOf: original.runId },
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError('invalid_request', `${issue?.path.join('.') ?? 'The request'}: ${issue?.message ?? 'not valid'}.`);
}
