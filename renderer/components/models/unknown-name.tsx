import { Plus } from 'lucide-react';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { CompatibleEndpoint, ProviderState } from '../../../shared/contract/providers.ts';
import { Button } from '../button.tsx';
import { describeError } from '../state-panels.tsx';
import { useAddModel } from '../../queries/models.ts';

interface UnknownNameProps {
  words: string;
  providers: readonly ProviderState[];
  endpoints: readonly CompatibleEndpoint[];
  onAdded: (aiSystem: AiSystem, name: string) => void;
}

/** Nothing has the name: it may be a model that no list knows yet, and then it can be used all the same. */
export function UnknownName({ words, providers, endpoints, onAdded }: UnknownNameProps) {
  const add = useAddModel();
  const name = words.trim();
  const homes: { aiSystem: AiSystem; model: string; title: string }[] = [
    ...providers
      .filter(({ keySource }) => keySource !== null)
      .map(({ aiSystem }) => ({ aiSystem, model: name, title: providerName(aiSystem) })),
    ...endpoints.map((endpoint) => ({
      aiSystem: 'OpenAiCompatible' as const,
      model: name.startsWith(`${endpoint.name}/`) ? name : `${endpoint.name}/${name}`,
      title: endpoint.name,
    })),
  ];
  if (name === '' || homes.length === 0) {
    return <p className="picker__empty secondary">No matching models. Remove a filter or add a provider.</p>;
  }
  return (
    <div className="picker__empty">
      <p className="secondary">Not in the catalogue. Use it anyway with:</p>
      <div className="row picker__homes">
        {homes.map(({ aiSystem, model, title }) => (
          <Button
            key={title}
            icon={Plus}
            size="small"
            isBusy={add.isPending && add.variables.aiSystem === aiSystem && add.variables.model === model}
            onClick={() => add.mutate({ aiSystem, model }, { onSuccess: () => onAdded(aiSystem, model) })}
          >
            {title}
          </Button>
        ))}
      </div>
      {add.error && <p className="small negative">{describeError(add.error).message}</p>}
    </div>
  );
}
