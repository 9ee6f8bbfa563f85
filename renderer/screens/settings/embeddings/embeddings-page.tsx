import { useState, type FormEvent } from 'react';
import { Link } from 'wouter';
import {
  embeddingProviders,
  type EmbeddingProvider,
  type EmbeddingSettings,
} from '../../../../shared/contract/embeddings.ts';
import { Button } from '../../../components/button.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSettings, useUpdateSettings } from '../../../queries/settings.ts';
import { SettingRow, SettingsPage } from '../settings-page.tsx';

type Maker = 'on-device' | EmbeddingProvider;

/** A model of each provider to begin with; a compatible endpoint has whatever its owner gave it. */
const firstModels: Readonly<Record<EmbeddingProvider, string>> = {
  OpenAi: 'text-embedding-3-small',
  GoogleGemini: 'gemini-embedding-001',
  Cohere: 'embed-v4.0',
  OpenAiCompatible: '',
};

const makers = [
  { value: 'on-device', label: 'This device' },
  ...embeddingProviders.map((name) => ({ value: name, label: name })),
] as const;

const makerOf = (settings: EmbeddingSettings): Maker =>
  settings.kind === 'on-device' ? 'on-device' : settings.aiSystem;
const modelOf = (settings: EmbeddingSettings) => (settings.kind === 'on-device' ? '' : settings.model);

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
    const isNamed = maker === 'OpenAiCompatible' ? /^[^/]+\/.+/.test(name) : name !== '';
    setError(isNamed ? null : maker === 'OpenAiCompatible' ? 'Write it as endpoint/model' : 'Give the name of a model');
    if (isNamed) update.mutate({ embeddings: { kind: 'provider', aiSystem: maker, model: name } });
  }

  return (
    <form className="card settings__first" onSubmit={save}>
      <SettingRow label="Made by" detail="A provider is sent every passage of every source, and every question">
        <Select label="Made by" isLabelHidden size="small" value={maker} options={makers} onValueChange={choose} />
      </SettingRow>
      {maker !== 'on-device' && (
        <SettingRow
          label="Model"
          detail={
            maker === 'OpenAiCompatible' ? 'The name of the endpoint, a slash, the model' : `As ${maker} names it`
          }
        >
          <TextField
            label="Model"
            isLabelHidden
            isMono
            size="small"
            value={model}
            onValueChange={setModel}
            error={error}
          />
        </SettingRow>
      )}
      <SettingRow
        label={isPresent ? 'In use' : 'Not in use yet'}
        detail={
          <>
            After a change, sources that are there are found by words alone until they are indexed again, which{' '}
            <Link href="/knowledge">Knowledge</Link> offers.
          </>
        }
      >
        <Button type="submit" variant="primary" size="small" isBusy={update.isPending} aria-disabled={isPresent}>
          Use it
        </Button>
      </SettingRow>
    </form>
  );
}

/** Who turns passages and questions into vectors. */
export function EmbeddingsPage() {
  const settings = useSettings();
  return (
    <SettingsPage
      title="Embeddings"
      lead="What sources say and what is asked becomes vectors, so that passages are found by their meaning. On this device it needs no key, and no text leaves it."
    >
      <QueryView query={settings} subject="the settings" rows={2}>
        {({ embeddings }) => <EmbeddingsForm key={JSON.stringify(embeddings)} present={embeddings} />}
      </QueryView>
    </SettingsPage>
  );
}
