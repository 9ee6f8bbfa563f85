import { Trash2 } from 'lucide-react';
import { providerName } from '../../../../shared/provider-names.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { useModels, useRemoveModel } from '../../../queries/models.ts';
import { SettingRow, SettingsSection } from '../settings-page.tsx';

/** Names that were made valid in the model picker although neither the catalogue nor the provider lists them. */
export function AddedModelsSection() {
  const models = useModels().data?.data ?? [];
  const remove = useRemoveModel();
  const added = models.filter(({ origin }) => origin === 'user');
  if (added.length === 0) return null;
  return (
    <SettingsSection title="Models you added">
      <div className="card">
        {added.map(({ aiSystem, name }) => (
          <SettingRow
            key={`${aiSystem}/${name}`}
            label={<span className="mono">{name}</span>}
            detail={providerName(aiSystem)}
          >
            <IconButton
              size="small"
              icon={Trash2}
              label={`Remove ${name} of ${providerName(aiSystem)}`}
              onClick={() => remove.mutate({ aiSystem, model: name })}
            />
          </SettingRow>
        ))}
      </div>
    </SettingsSection>
  );
}
