import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import {
  type EmbeddingProvider,
  embeddingProviders,
  type EmbeddingSettings,
} from '../../../shared/contract/settings.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Button } from '../../components/button.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { Select } from '../../components/select.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';
import { SettingRow, SettingsPage } from './settings-page.tsx';

type Maker = 'on-device' | EmbeddingProvider;

/** The suggested model of each provider; a compatible endpoint has its own. */
const firstModels: Readonly<Record<EmbeddingProvider, string>> = {
  OpenAi: 'text-embedding-3-small',
  GoogleGemini: 'gemini-embedding-001',
  Cohere: 'embed-v4.0',
  OpenAiCompatible: '',
};

const makers = [
  { value: 'on-device', label: 'On device' },
  ...embeddingProviders.map((name) => ({ value: name, label: providerName(name) })),
] as const;

const makerOf = (settings: EmbeddingSettings): Maker =>
  settings.kind === 'on-device' ? 'on-device' : settings.aiSystem;
const modelOf = (settings: EmbeddingSettings) => (settings.kind === 'on-device' ? '' : settings.model);

/** Why a provider can't have a model of this name; null when it can. */
function modelProblem(aiSystem: EmbeddingProvider, name: string): string | null {
  if (aiSystem === 'OpenAiCompatible') return /^[^/]+\/.+/.test(name) ? null : 'Must be endpoint/model';
  return name === '' ? 'Enter a model name' : null;
}

interface ModelRowProps {
  aiSystem: EmbeddingProvider;
  model: string;
  error: string | null;
  onChange: (model: string) => void;
}

function ModelRow({ aiSystem, model, error, onChange }: ModelRowProps) {
  return (
    <SettingRow
      label="Model"
      detail={
        aiSystem === 'OpenAiCompatible'
          ? 'Endpoint and model, e.g. ollama/nomic-embed-text'
          : `Model name at ${providerName(aiSystem)}`
      }
    >
      <TextField label="Model" isLabelHidden isMono size="small" value={model} onValueChange={onChange} error={error} />
    </SettingRow>
  );
}

function EmbeddingsForm({ present }: { present: EmbeddingSettings }) {
  const update = useUpdateSettings();
  const [maker, setMaker] = useState(makerOf(present));
  const [model, setModel] = useState(modelOf(present));
  const [error, setError] = useState<string | null>(null);
  const isPresent = maker === makerOf(present) && model.trim() === modelOf(present);

  function choose(next: Maker): void {
    setMaker(next);
    setModel(next === makerOf(present) ? modelOf(present) : next === 'on-device' ? '' : firstModels[next]);
    setError(null);
  }

  function save(event: FormEvent): void {
    event.preventDefault();
    if (isPresent) return;
    if (maker === 'on-device') return update.mutate({ embeddings: { kind: 'on-device' } });
    const name = model.trim();
    const problem = modelProblem(maker, name);
    setError(problem);
    if (problem === null) update.mutate({ embeddings: { kind: 'provider', aiSystem: maker, model: name } });
  }

  return (
    <form className="card settings__first" onSubmit={save}>
      <SettingRow
        label="Embedding provider"
        detail="A provider receives every passage of every source, and every search query"
      >
        <Select
          label="Embedding provider"
          isLabelHidden
          size="small"
          value={maker}
          options={makers}
          onValueChange={choose}
        />
      </SettingRow>
      {maker !== 'on-device' && <ModelRow aiSystem={maker} model={model} error={error} onChange={setModel} />}
      <SettingRow
        label={isPresent ? 'This provider is in use' : 'Not in use yet'}
        detail={
          <>
            After a change, existing sources use keyword search only until you re-index them in{' '}
            <Link href="/knowledge">Knowledge</Link>.
          </>
        }
      >
        <Button type="submit" variant="primary" size="small" isBusy={update.isPending} aria-disabled={isPresent}>
          Switch
        </Button>
      </SettingRow>
    </form>
  );
}

/** Which provider computes the embeddings. */
export function EmbeddingsPage() {
  const settings = useSettings();
  return (
    <SettingsPage
      title="Embeddings"
      lead="Embeddings let search match by meaning. On this device they need no key, and no text leaves it."
    >
      <QueryView query={settings} subject="the settings" rows={2}>
        {({ embeddings }) => <EmbeddingsForm key={JSON.stringify(embeddings)} present={embeddings} />}
      </QueryView>
    </SettingsPage>
  );
}
