import { ArrowRight } from 'lucide-react';
import { serviceModels, type ServiceModel, type Settings } from '../../../../shared/contract/settings.ts';
import { Combobox } from '../../../components/combobox.tsx';
import { Icon } from '../../../components/icon.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { useModels } from '../../../queries/models.ts';
import { useOnDevice } from '../../../queries/on-device.ts';
import { useSettings, useUpdateSettings } from '../../../queries/settings.ts';
import { SettingsSection } from '../settings-page.tsx';
import { priceText, routeLabel, routeOfValue, routeOptions, routeValue } from './route-options.ts';

function RouteRow({ name, settings }: { name: ServiceModel; settings: Settings }) {
  const update = useUpdateSettings();
  const models = useModels().data?.data ?? [];
  const onDevice = useOnDevice().data?.models.find(({ isSelected }) => isSelected)?.title ?? null;
  const route = settings.serviceRoutes[name];
  const target = models.find(
    (model) => route.kind === 'provider' && model.aiSystem === route.aiSystem && model.name === route.model,
  );
  const note =
    route.kind === 'on-device'
      ? 'No key, no network. For trying out, not for judging prompts.'
      : target && !target.isReady
        ? `${route.aiSystem} has no key: runs are refused until it has one.`
        : ((target && priceText(target)) ?? 'Price not known');
  return (
    <div className="provider">
      <div className="provider__row provider__row--route">
        <span className="strong mono">{name}</span>
        <Icon icon={ArrowRight} size="small" />
        <Combobox
          label={`Where ${name} goes`}
          placeholder="Find a model"
          size="small"
          value={routeValue(route)}
          shown={routeLabel(route, onDevice)}
          options={routeOptions(models, onDevice)}
          onValueChange={(value) =>
            update.mutate({ serviceRoutes: { ...settings.serviceRoutes, [name]: routeOfValue(value) } })
          }
        />
        <span className={`small truncate ${target && !target.isReady ? 'caution' : 'tertiary'}`} title={note}>
          {note}
        </span>
      </div>
    </div>
  );
}

/** Where the runs of the service's own two models go. */
export function ServiceModelsSection({ title = 'Service models' }: { title?: string }) {
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
