import { ArrowRight } from 'lucide-react';
import type { Model } from '../../../shared/contract/providers.ts';
import {
  type ServiceModel,
  serviceModels,
  type ServiceRoute,
  type Settings,
} from '../../../shared/contract/settings.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Combobox, type ComboboxOption } from '../../components/combobox.tsx';
import { Icon } from '../../components/icon.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useModels } from '../../queries/providers.ts';
import { useOnDevice } from '../../queries/on-device.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingsPage, SettingsSection } from './settings-page.tsx';

const onDeviceValue = 'on-device';

/** A route as the value of the select. */
function routeValue(route: ServiceRoute): string {
  return route.kind === 'on-device' ? onDeviceValue : JSON.stringify([route.aiSystem, route.model]);
}

function routeOfValue(value: string): ServiceRoute {
  if (value === onDeviceValue) return { kind: 'on-device' };
  const [aiSystem, model] = JSON.parse(value) as [Exclude<Model['aiSystem'], 'ServiceAi'>, string];
  return { kind: 'provider', aiSystem, model };
}

function routeLabel(route: ServiceRoute, onDeviceTitle: string | null): string {
  if (route.kind === 'provider') return `${providerName(route.aiSystem)}, ${route.model}`;
  return onDeviceTitle ? `On device, ${onDeviceTitle}` : 'On device';
}

const dollars = (price: number) => `$${price < 1 ? price.toFixed(2) : price.toString()}`;

/** `$0.10 in, $0.50 out per 1M`; undefined if the price is unknown. */
function priceText({ inputPrice, outputPrice }: Model): string | undefined {
  if (inputPrice === null || outputPrice === null) return undefined;
  return `${dollars(inputPrice)} in, ${dollars(outputPrice)} out per 1M`;
}

/** This device first, then every model that isn't retired. A model without a key shows why and can't be selected. */
function routeOptions(models: readonly Model[], onDeviceTitle: string | null): ComboboxOption[] {
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

interface RouteNote {
  text: string;
  isWarning: boolean;
}

/** A hint about a route: its price, or why it doesn't work now. */
function routeNote(route: ServiceRoute, target: Model | undefined, hasOnDeviceModel: boolean): RouteNote {
  if (route.kind === 'on-device') {
    return hasOnDeviceModel
      ? { text: 'No key, no network', isWarning: false }
      : { text: 'No on-device model installed; runs fail until you download one', isWarning: true };
  }
  if (target && !target.isReady)
    return { text: `${providerName(route.aiSystem)} has no key; runs fail until you add one`, isWarning: true };
  return { text: (target && priceText(target)) ?? 'Unknown price', isWarning: false };
}

function RouteRow({ name, settings }: { name: ServiceModel; settings: Settings }) {
  const update = useUpdateSettings();
  const models = useModels().data?.data ?? [];
  const selected = useOnDevice().data?.models.find(({ isSelected, state }) => isSelected && state === 'installed');
  const title = selected?.title ?? null;
  const route = settings.serviceRoutes[name];
  const target = models.find(
    (model) => route.kind === 'provider' && model.aiSystem === route.aiSystem && model.name === route.model,
  );
  const note = routeNote(route, target, selected !== undefined);
  return (
    <div className="provider">
      <div className="provider__row provider__row--route">
        <span className="strong mono">{name}</span>
        <Icon icon={ArrowRight} size="small" />
        <Combobox
          label={`Route of ${name}`}
          placeholder="Search models"
          size="small"
          value={routeValue(route)}
          shown={routeLabel(route, title)}
          options={routeOptions(models, title)}
          onValueChange={(value) =>
            update.mutate({ serviceRoutes: { ...settings.serviceRoutes, [name]: routeOfValue(value) } })
          }
        />
        <span className={`small ${note.isWarning ? 'caution' : 'tertiary'}`}>{note.text}</span>
      </div>
    </div>
  );
}

/** The routes of the two built-in models. */
export function ServiceModelsSection({ title = 'Built-in models' }: { title?: string }) {
  const settings = useSettings();
  return (
    <SettingsSection title={title}>
      <div className="card">
        <QueryView query={settings} subject="the settings" rows={2}>
          {(data) => serviceModels.toReversed().map((name) => <RouteRow key={name} name={name} settings={data} />)}
        </QueryView>
      </div>
    </SettingsSection>
  );
}

export function ServiceModelsPage() {
  return (
    <SettingsPage
      title="Built-in models"
      lead={
        <>
          Route each service model to the on-device model or to a provider. The{' '}
          <span className="mono--small">x-served-by</span> header and the audit show which model answered.
        </>
      }
    >
      <ServiceModelsSection title="Routes" />
    </SettingsPage>
  );
}
