import { ArrowRight } from 'lucide-react';
import type { Model } from '../../../../shared/contract/providers.ts';
import {
  serviceModels,
  type ServiceModel,
  type ServiceRoute,
  type Settings,
} from '../../../../shared/contract/settings.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import { Combobox } from '../../../components/combobox.tsx';
import { Icon } from '../../../components/icon.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { useModels } from '../../../queries/models.ts';
import { useOnDevice } from '../../../queries/on-device.ts';
import { useSettings, useUpdateSettings } from '../../../queries/settings.ts';
import { SettingsSection } from '../settings-page.tsx';
import { priceText, routeLabel, routeOfValue, routeOptions, routeValue } from './route-options.ts';

interface RouteNote {
  text: string;
  isWarning: boolean;
}

/** What to know about a route: its price, or why runs on it are refused now. */
export function routeNote(route: ServiceRoute, target: Model | undefined, hasOnDeviceModel: boolean): RouteNote {
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

/** Where the runs of the service's own two models go. */
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
