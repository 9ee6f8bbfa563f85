import { Braces, Brain, Image, type LucideIcon, Wrench } from 'lucide-react';
import type { CompatibleEndpoint, Model, ProviderState } from '../../../shared/contract/providers.ts';
import { type AiSystem, aiSystems } from '../../../shared/contract/common.ts';
import { type FileKind, fileKindNames } from '../../../shared/file-kinds.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { daysUntil, formatDate } from '../format.ts';

export type Capability = Model['capabilities'][number];

/** A capability of a model, as the picker shows and filters it. */
export const shownCapabilities: readonly { id: Capability; label: string; icon: LucideIcon }[] = [
  { id: 'tools', label: 'Tools', icon: Wrench },
  { id: 'images', label: 'Vision', icon: Image },
  { id: 'reasoning', label: 'Reasoning', icon: Brain },
  { id: 'structured-output', label: 'JSON schema', icon: Braces },
];

/** What a prompt needs of its model. */
export interface ModelNeeds {
  files: readonly FileKind[];
  hasTools: boolean;
}

export const noNeeds: ModelNeeds = { files: [], hasTools: false };

/** What a model lacks for a prompt; null if nothing, as far as is known. */
export function lackOf(
  { fileKinds, callsTools }: Pick<Model, 'fileKinds' | 'callsTools'>,
  { files, hasTools }: ModelNeeds,
): string | null {
  const missing = files.find((kind) => !fileKinds.includes(kind));
  if (missing !== undefined) return `Doesn't support ${fileKindNames[missing]}`;
  return hasTools && !callsTools ? "Doesn't call tools" : null;
}

type ModelName = Pick<Model, 'aiSystem' | 'name'>;

const datedEnding = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{2}-\d{2})$/;

/** A model with its dated copies, which the list shows only on request. */
interface ModelFamily {
  model: Model;
  copies: Model[];
}

/** Dated copies go below the model without a date, newest first. A dated model without one stays on its own. */
export function modelFamilies(models: readonly Model[]): ModelFamily[] {
  const names = new Set(models.map(({ name }) => name));
  const undated = ({ name }: Model): string => name.replace(datedEnding, '');
  const isCopy = (model: Model): boolean => undated(model) !== model.name && names.has(undated(model));
  const newestFirst = models.filter(isCopy).toSorted((one, other) => other.name.localeCompare(one.name));
  const copies = Map.groupBy(newestFirst, undated);
  return models.filter((model) => !isCopy(model)).map((model) => ({ model, copies: copies.get(model.name) ?? [] }));
}

/** The version in a name: 4.1 for `gpt-4.1-mini`, 4.5 for `claude-opus-4-5`. Dates and sizes such as `70b` aren't versions. */
function versionOf(name: string): number {
  const version = /(?:^|[^\d.])(\d{1,2})(?:[.-](\d{1,2}))?(?![\db.])/;
  const [, major, minor] = version.exec(name.replace(datedEnding, '')) ?? [];
  return major === undefined ? 0 : Number(major) + Number(minor ?? 0) / 100;
}

/** Ready before not ready, retired last, newer versions first. */
function byUsefulness(one: Model, other: Model): number {
  return (
    Number(one.hasEnded) - Number(other.hasEnded) ||
    Number(other.isReady) - Number(one.isReady) ||
    versionOf(other.name) - versionOf(one.name) ||
    one.name.localeCompare(other.name)
  );
}

/** Puts favourites and recently used models above the groups of all models. A model is shown once. */
export function withShortcuts(
  groups: readonly ModelGroup[],
  { favourites, recent }: { favourites: readonly ModelName[]; recent: readonly ModelName[] },
): ModelGroup[] {
  const known = groups.flatMap(({ models }) => models);
  const copiesOf = new Map(
    groups.flatMap((group) => modelFamilies(group.models)).map((one) => [one.model, one.copies]),
  );
  const shown = new Set<Model>();
  const pick = (names: readonly ModelName[]): Model[] =>
    names.flatMap((requested) => {
      const match = known.find(({ aiSystem, name }) => aiSystem === requested.aiSystem && name === requested.name);
      if (!match || shown.has(match)) return [];
      const family = [match, ...(copiesOf.get(match) ?? []).filter((copy) => !shown.has(copy))];
      for (const model of family) shown.add(model);
      return family;
    });
  const shortcuts: ModelGroup[] = [
    { key: 'favourites', title: 'Favourites', aiSystem: null, models: pick(favourites) },
    { key: 'recent', title: 'Recently used', aiSystem: null, models: pick(recent.slice(0, maxRecentRows)) },
  ];
  const rest = groups.map((group) => ({ ...group, models: group.models.filter((model) => !shown.has(model)) }));
  return [...shortcuts, ...rest].filter(({ models }) => models.length > 0);
}

const maxRecentRows = 4;

export interface ModelFilter {
  /** Whether the name, the title or the provider contain every term. */
  words: string;
  capabilities: readonly Capability[];
  isReadyOnly: boolean;
  isEndedShown: boolean;
}

export const noFilter: ModelFilter = { words: '', capabilities: [], isReadyOnly: false, isEndedShown: false };

/** The models of one provider or one compatible endpoint, or a shortcut to some of all models. */
export interface ModelGroup {
  key: string;
  title: string;
  /** Null for favourites and recently used models. */
  aiSystem: AiSystem | null;
  models: Model[];
}

export function modelKey({ aiSystem, name }: Pick<Model, 'aiSystem' | 'name'>): string {
  return `${aiSystem}/${name}`;
}

/** The endpoint that a compatible model belongs to: the part of its name before the first slash. */
export function endpointOf(model: Pick<Model, 'aiSystem' | 'name'>): string | null {
  return model.aiSystem === 'OpenAiCompatible' ? (model.name.split('/')[0] ?? null) : null;
}

/** The model's name below its group's title. */
export function shortName(model: Pick<Model, 'aiSystem' | 'name'>): string {
  const endpoint = endpointOf(model);
  return endpoint === null ? model.name : model.name.slice(endpoint.length + 1);
}

function matchesTerms(model: Model, words: readonly string[]): boolean {
  const location = runsOnDevice(model) ? 'on-device on this device local' : '';
  const text =
    `${model.name} ${model.title} ${model.aiSystem} ${providerName(model.aiSystem)} ${location}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * The models that match, in groups: groups with a ready model first, then in the contract's order, endpoints by name. Inside a
 * group ready and newer models come first.
 */
export function groupModels(models: readonly Model[], filter: ModelFilter): ModelGroup[] {
  const words = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, ModelGroup>();
  for (const model of models) {
    if (model.hasEnded && !filter.isEndedShown) continue;
    if (filter.isReadyOnly && !model.isReady) continue;
    if (!filter.capabilities.every((capability) => model.capabilities.includes(capability))) continue;
    if (!matchesTerms(model, words)) continue;
    const endpoint = endpointOf(model);
    const title = endpoint ?? providerName(model.aiSystem);
    // Part of an element's ID, so without the spaces that a provider's name may have.
    const key = `${model.aiSystem}/${endpoint ?? ''}`;
    const group = groups.get(key) ?? { key, title, aiSystem: model.aiSystem, models: [] };
    group.models.push(model);
    groups.set(key, group);
  }
  const order = (group: ModelGroup): number =>
    (group.models.some(({ isReady }) => isReady) ? 0 : aiSystems.length) +
    (group.aiSystem === null ? 0 : aiSystems.indexOf(group.aiSystem));
  return [...groups.values()]
    .map((group) => ({ ...group, models: group.models.toSorted(byUsefulness) }))
    .toSorted((a, b) => order(a) - order(b) || a.title.localeCompare(b.title));
}

interface ShutdownBadge {
  text: string;
  tone: 'caution' | 'negative';
  days: number;
}

/** The colour of a retirement date: negative within 30 days, caution before that; null without a date. */
export function shutdownBadge(model: Pick<Model, 'shutdownDate' | 'hasEnded'>, now: Date): ShutdownBadge | null {
  if (model.shutdownDate === null) return model.hasEnded ? { text: 'Retired', tone: 'negative', days: 0 } : null;
  const days = daysUntil(model.shutdownDate, now);
  const isOver = model.hasEnded || days < 0;
  const text = `${isOver ? 'Retired' : 'Retires'} ${formatDate(model.shutdownDate, 'short')}`;
  return { text, tone: isOver || days <= 30 ? 'negative' : 'caution', days };
}

const testLabels: Record<string, string> = {
  refused: 'key rejected',
  unreachable: 'unreachable',
  silent: 'no response',
  failed: 'test failed',
};

interface Readiness {
  isReady: boolean;
  text: string;
}

/** Whether a group's models can run now, and the source of their credentials. */
export function readinessOf(
  group: Pick<ModelGroup, 'aiSystem' | 'title' | 'models'>,
  providers: readonly ProviderState[],
  endpoints: readonly CompatibleEndpoint[],
): Readiness {
  if (group.aiSystem === 'ServiceAi') return { isReady: true, text: 'No key needed' };
  if (group.aiSystem === 'OpenAiCompatible') {
    const endpoint = endpoints.find(({ name }) => name === group.title);
    if (endpoint?.confirmation) return { isReady: false, text: 'Address not confirmed' };
    if (endpoint?.keyFailure) return { isReady: false, text: 'Key unreadable' };
    const failure = endpoint?.lastTest && endpoint.lastTest.outcome !== 'ok' ? endpoint.lastTest.outcome : null;
    if (failure) return { isReady: false, text: `Compatible endpoint, ${testLabels[failure]}` };
    return {
      isReady: true,
      text: endpoint?.keySource ? 'Compatible endpoint, key set' : 'Compatible endpoint, no key needed',
    };
  }
  const provider = providers.find(({ aiSystem }) => aiSystem === group.aiSystem);
  if (provider?.confirmation) return { isReady: false, text: 'Address not confirmed' };
  if (provider?.keyFailure) return { isReady: false, text: 'Key unreadable' };
  if (!provider?.keySource) return { isReady: false, text: 'Key missing' };
  if (provider.lastTest?.outcome === 'refused') return { isReady: false, text: 'Key rejected' };
  return { isReady: true, text: provider.keySource === 'environment' ? 'Key from the environment' : 'Key set' };
}

/** One line under the model's name: where a run goes, and whether it can run. */
export function modelLocation(model: Model): string {
  if (model.aiSystem === 'ServiceAi') return `Built-in, ${serviceLocation(model)}`;
  const endpoint = endpointOf(model);
  if (endpoint !== null) return model.isReady ? `Endpoint ${endpoint}` : `Endpoint ${endpoint}, not reachable`;
  return `${providerName(model.aiSystem)}, ${model.isReady ? 'key set' : 'no usable key'}`;
}

/** Where the runs of a service model go. */
export function serviceLocation(model: Pick<Model, 'servedBy'>): string {
  return isOnDevice(model) ? 'on this device' : `routed to ${servedByName(model)}`;
}

/** Whether an on-device model answers the runs of the model. */
export function runsOnDevice(model: Pick<Model, 'aiSystem' | 'servedBy'>): boolean {
  return model.aiSystem === 'ServiceAi' && isOnDevice(model);
}

/** `Anthropic/claude` with the provider's display name. */
function servedByName({ servedBy }: Pick<Model, 'servedBy'>): string {
  if (servedBy === null) return 'a provider';
  const [system, ...name] = servedBy.split('/');
  const known = aiSystems.find((candidate) => candidate === system);
  if (known === 'OpenAiCompatible' || known === undefined) return name.join('/') || servedBy;
  return `${providerName(known)} ${name.join('/')}`;
}

export function isOnDevice(model: Pick<Model, 'servedBy'>): boolean {
  return model.servedBy === null || model.servedBy.startsWith('on-device');
}
