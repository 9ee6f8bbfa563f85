import type { Configuration, NamedParameter, Warning } from '../../shared/contract/completions.ts';
import { type ToolParameter, toolParameters } from '../../shared/contract/tools.ts';
import type { CatalogueEntry } from './provider-details.ts';
import { cataloguePrices, type ModelPrices } from './model-prices.ts';
import {
  droppedToolParameters,
  parameterSupport,
  dropReason,
  type ParameterSupport,
  type RuleSet,
} from './parameter-rules.ts';
import type { ListedModel } from './provider.ts';

/** What is known about a model, from all sources. The provider's own list takes precedence over the bundled catalogue. */
export interface ModelMetadata {
  readonly title: string;
  readonly contextTokens: number | null;
  readonly outputTokens: number | null;
  readonly shutdownDate: string | null;
  /** True for models that were shut down on an unknown day. */
  readonly hasEndedBefore: boolean;
  readonly catalogueEntry: CatalogueEntry | null;
  /** Null when unknown. */
  readonly prices: ModelPrices | null;
  readonly ruleSet: RuleSet;
  readonly parameters: readonly ParameterSupport[];
}

const warningDays = 90;
const dayMilliseconds = 86_400_000;

function day(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

export function combineMetadata(
  ruleSet: RuleSet,
  name: string,
  entry: CatalogueEntry | null,
  listed: ListedModel | null,
  prices: ModelPrices | null = cataloguePrices(entry),
): ModelMetadata {
  return {
    title: entry?.title ?? listed?.title ?? name,
    contextTokens: listed?.contextTokens ?? entry?.contextTokens ?? null,
    outputTokens: listed?.outputTokens ?? entry?.outputTokens ?? null,
    shutdownDate: listed?.shutdownDate ?? entry?.shutdownDate ?? null,
    hasEndedBefore: entry?.hasEnded ?? false,
    catalogueEntry: entry,
    prices,
    ruleSet,
    parameters: parameterSupport(ruleSet, entry),
  };
}

/** Whether the model has been shut down. */
export function hasEnded({ hasEndedBefore, shutdownDate }: ModelMetadata): boolean {
  return hasEndedBefore || (shutdownDate !== null && shutdownDate <= day(Date.now()));
}

function endingWarning(metadata: ModelMetadata): Warning | null {
  const { shutdownDate, title, catalogueEntry } = metadata;
  const remedy = catalogueEntry?.replacement ? ` Use ${catalogueEntry.replacement} instead.` : '';
  if (hasEnded(metadata)) {
    const when = shutdownDate === null ? 'is retired' : `was retired on ${shutdownDate}`;
    return { code: 'model-ending', message: `${title} ${when}.${remedy}` };
  }
  if (shutdownDate === null || shutdownDate > day(Date.now() + warningDays * dayMilliseconds)) return null;
  return { code: 'model-ending', message: `${title} retires on ${shutdownDate}.${remedy}` };
}

/**
 * The part of a configuration that the model supports, with warnings for dropped parameters and for a model that will be shut down.
 * Null parameters count as absent. Unknown keys stay.
 */
export function filterConfiguration(
  metadata: ModelMetadata,
  configuration: Configuration,
): { configuration: Configuration; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const dropped = new Set<string>();
  for (const parameter of metadata.parameters) {
    const value = configuration[parameter.name];
    if (value === undefined) continue;
    const reason =
      value === null ? null : dropReason(parameter, metadata.catalogueEntry, metadata.ruleSet, configuration);
    if (value === null || reason !== null) dropped.add(parameter.name);
    if (reason !== null) warnings.push(droppedWarning(parameter.name, metadata.title, reason));
  }
  for (const name of toolParameters) if (configuration[name] === null) dropped.add(name);
  if (configuration.tools != null) {
    for (const { name, reason } of droppedToolParameters(metadata.ruleSet, metadata.catalogueEntry, configuration)) {
      dropped.add(name);
      warnings.push(droppedWarning(name, metadata.title, reason));
    }
  }
  const ending = endingWarning(metadata);
  if (ending) warnings.push(ending);
  if (dropped.size === 0) return { configuration, warnings };
  const remaining = Object.entries(configuration).filter(([key]) => !dropped.has(key));
  return { configuration: Object.fromEntries(remaining), warnings };
}

function droppedWarning(parameter: NamedParameter | ToolParameter, title: string, reason: string): Warning {
  return { code: 'parameter-dropped', parameter, message: `${parameter} wasn't sent to ${title}: ${reason}.` };
}
