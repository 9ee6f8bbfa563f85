import type { Model } from '../../../shared/contract/providers.ts';
import type { ModelGroup } from './model-list.ts';

type ModelName = Pick<Model, 'aiSystem' | 'name'>;

const datedEnding = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{2}-\d{2})$/;

/** A model with its dated copies, which the list shows only on request. */
export interface ModelFamily {
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
export function byUsefulness(one: Model, other: Model): number {
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
    names.flatMap((wanted) => {
      const found = known.find(({ aiSystem, name }) => aiSystem === wanted.aiSystem && name === wanted.name);
      if (!found || shown.has(found)) return [];
      const family = [found, ...(copiesOf.get(found) ?? []).filter((copy) => !shown.has(copy))];
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
