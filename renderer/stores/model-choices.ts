import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { Model } from '../../shared/contract/providers.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

type ModelName = Pick<Model, 'aiSystem' | 'name'>;

interface ModelChoices {
  /** Models that were chosen or run, last used first. */
  recent: readonly ModelName[];
  /** Models with a star, last added first. */
  favourites: readonly ModelName[];
}

const maxRecentModels = 8;
const maxFavouriteModels = 200;

/** The models that a person uses. Written at once, so that they survive a crash as well as a restart. */
export const useModelChoices = create<ModelChoices>()(
  persist((): ModelChoices => ({ recent: [], favourites: [] }), { name: 'touchstone.models', version: 1 }),
);
shareBetweenWindows(useModelChoices);

const isSameAs =
  (model: ModelName) =>
  (other: ModelName): boolean =>
    other.aiSystem === model.aiSystem && other.name === model.name;

function withFirst(models: readonly ModelName[], { aiSystem, name }: ModelName, maxLength: number): ModelName[] {
  const isSame = isSameAs({ aiSystem, name });
  return [{ aiSystem, name }, ...models.filter((other) => !isSame(other))].slice(0, maxLength);
}

export function rememberModel(model: ModelName): void {
  useModelChoices.setState(({ recent }) => ({ recent: withFirst(recent, model, maxRecentModels) }));
}

/** A model that was compared comes after the last used one, which stays the model that new prompts start with. */
export function rememberComparedModel(model: ModelName): void {
  useModelChoices.setState(({ recent: [last, ...rest] }) => {
    if (!last || isSameAs(model)(last)) return {};
    return { recent: [last, ...withFirst(rest, model, maxRecentModels - 1)] };
  });
}

export function toggleFavourite(model: ModelName): void {
  useModelChoices.setState(({ favourites }) => ({
    favourites: favourites.some(isSameAs(model))
      ? favourites.filter((other) => !isSameAs(model)(other))
      : withFirst(favourites, model, maxFavouriteModels),
  }));
}
