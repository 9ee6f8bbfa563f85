import type { Model } from '../../../../shared/contract/providers.ts';
import type { ServiceRoute } from '../../../../shared/contract/settings.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import type { ComboboxOption } from '../../../components/combobox.tsx';

const onDeviceValue = 'on-device';

/** A route as one text, for the list to choose from. */
export function routeValue(route: ServiceRoute): string {
  return route.kind === 'on-device' ? onDeviceValue : JSON.stringify([route.aiSystem, route.model]);
}

export function routeOfValue(value: string): ServiceRoute {
  if (value === onDeviceValue) return { kind: 'on-device' };
  const [aiSystem, model] = JSON.parse(value) as [Exclude<Model['aiSystem'], 'ServiceAi'>, string];
  return { kind: 'provider', aiSystem, model };
}

export function routeLabel(route: ServiceRoute, onDeviceTitle: string | null): string {
  if (route.kind === 'provider') return `${providerName(route.aiSystem)}, ${route.model}`;
  return onDeviceTitle ? `On device, ${onDeviceTitle}` : 'On device';
}

const dollars = (price: number) => `$${price < 1 ? price.toFixed(2) : price.toString()}`;

/** `$0.10 in, $0.50 out per 1M`; undefined where the price is not known. */
export function priceText({ inputPrice, outputPrice }: Model): string | undefined {
  if (inputPrice === null || outputPrice === null) return undefined;
  return `${dollars(inputPrice)} in, ${dollars(outputPrice)} out per 1M`;
}

/** This device first, then every model that has not ended; those without a key say so and cannot be chosen. */
export function routeOptions(models: readonly Model[], onDeviceTitle: string | null): ComboboxOption[] {
  const device: ComboboxOption = {
    value: onDeviceValue,
    label: routeLabel({ kind: 'on-device' }, onDeviceTitle),
    group: 'On device',
    detail: 'no key, no network',
  };
  const others = models
    .filter(({ aiSystem, hasEnded }) => aiSystem !== 'ServiceAi' && !hasEnded)
    .toSorted((one, other) => Number(other.isReady) - Number(one.isReady))
    .map((model): ComboboxOption => ({
      value: JSON.stringify([model.aiSystem, model.name]),
      label: model.name,
      group: providerName(model.aiSystem),
      detail: model.isReady ? priceText(model) : 'no key',
      isDisabled: !model.isReady,
    }));
  return [device, ...others];
}
