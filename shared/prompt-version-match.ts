import type { AiSystem } from './contract/common.ts';
import { serviceModels } from './contract/settings.ts';

/** What a version and a request have in common: everything that decides what a run sends, apart from the values. */
export interface RunSettings {
  readonly promptText: string;
  readonly systemMessage?: string | null | undefined;
  readonly aiSystem?: AiSystem | null | undefined;
  readonly model?: string | null | undefined;
  readonly configuration?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The model that a version runs on: its own, or the service's first one. */
export function modelNameOf({ aiSystem, model }: Pick<RunSettings, 'aiSystem' | 'model'>): {
  aiSystem: AiSystem;
  model: string;
} {
  return aiSystem && model ? { aiSystem, model } : { aiSystem: 'ServiceAi', model: serviceModels[0] };
}

/** The same text for the same settings, whatever their order and whether nothing is written as nothing. */
function canonical(configuration: RunSettings['configuration']): string {
  const given = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Whether two would send the same for the same values. */
export function runsTheSame(one: RunSettings, other: RunSettings): boolean {
  const [first, second] = [modelNameOf(one), modelNameOf(other)];
  return (
    one.promptText === other.promptText &&
    (one.systemMessage ?? '') === (other.systemMessage ?? '') &&
    first.aiSystem === second.aiSystem &&
    first.model === second.model &&
    canonical(one.configuration) === canonical(other.configuration)
  );
}
