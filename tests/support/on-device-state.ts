import type { OnDeviceModel, OnDeviceState } from '../../shared/contract/on-device.ts';
import type { OnDeviceLanguageModels } from '../../electron/on-device/create-language-models.ts';

/** Resolves with the first state, now or later, that is as asked. */
export async function whenState(
  models: OnDeviceLanguageModels,
  matchesRequest: (state: OnDeviceState) => boolean,
): Promise<OnDeviceState> {
  const now = models.state();
  if (matchesRequest(now)) return now;
  const found = Promise.withResolvers<OnDeviceState>();
  const unsubscribe = models.subscribe((state) => matchesRequest(state) && found.resolve(state));
  try {
    return await found.promise;
  } finally {
    unsubscribe();
  }
}

export function readModel(models: OnDeviceLanguageModels, id: string): OnDeviceModel {
  return models.state().models.find((model) => model.id === id)!;
}

/** Resolves when the model is as asked. */
export async function whenModel(
  models: OnDeviceLanguageModels,
  id: string,
  matchesRequest: (model: OnDeviceModel) => boolean,
): Promise<OnDeviceModel> {
  const state = await whenState(models, ({ models: all }) =>
    all.some((model) => model.id === id && matchesRequest(model)),
  );
  return state.models.find((model) => model.id === id)!;
}
