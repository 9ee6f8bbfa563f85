import { Search } from 'lucide-react';
import { useState } from 'react';
import { maxVariants } from '../../../../shared/contract/comparisons.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural } from '../../../components/format.ts';
import { matchScore } from '../../../components/match-score.ts';
import { modelKey } from '../../../components/models/model-list.ts';
import { Select } from '../../../components/select.tsx';
import { QueryView } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useModels } from '../../../queries/providers.ts';
import { useModelChoices } from '../../../stores/model-choices.ts';
import { useSetup } from './setup-context.ts';
import { letterOf } from './setup-draft.ts';

/** Typing finds the others. */
const maxShown = 60;

/** Models that can run now: favourites and recent ones first. */
function listedModels(models: readonly Model[], words: string, first: readonly Pick<Model, 'aiSystem' | 'name'>[]) {
  const keys = first.map(modelKey);
  const rank = (model: Model): number => {
    const index = keys.indexOf(modelKey(model));
    return index < 0 ? keys.length : index;
  };
  return models
    .filter((model) => model.isReady && !model.hasEnded)
    .filter((model) => words.trim() === '' || matchScore(words, [model.name, providerName(model.aiSystem)]) > 0)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, maxShown);
}

function CopiedVariant({ value, onChange }: { value: string | null; onChange: (id: string) => void }) {
  const { variants } = useSetup().draft;
  return (
    <Select
      label="Copy"
      isLabelHidden={false}
      size="small"
      value={value}
      options={variants.map(({ id, name, model }, index) => ({
        value: id,
        label: `${letterOf(index)} ${name || model}`,
      }))}
      onValueChange={onChange}
    />
  );
}

interface ModelChoicesProps {
  words: string;
  chosen: readonly Model[];
  onToggle: (model: Model, isChecked: boolean) => void;
}

function ModelChoices({ words, chosen, onToggle }: ModelChoicesProps) {
  const models = useModels();
  const { favourites, recent } = useModelChoices();
  return (
    <QueryView query={models} subject="the models">
      {({ data }) => {
        const listed = listedModels(data, words, [...favourites, ...recent]);
        return listed.length === 0 ? (
          <p className="small secondary">No matching models. Add a provider under Settings.</p>
        ) : (
          <ul className="scroll setup__vary-list" aria-label="Models">
            {listed.map((model) => (
              <li key={modelKey(model)} className="row">
                <span className="grow truncate">
                  <Checkbox
                    label={model.name}
                    isChecked={chosen.some((one) => modelKey(one) === modelKey(model))}
                    onCheckedChange={(isChecked) => onToggle(model, isChecked)}
                  />
                </span>
                <span className="caption tertiary">{providerName(model.aiSystem)}</span>
              </li>
            ))}
          </ul>
        );
      }}
    </QueryView>
  );
}

/** Adds one copy of a variant for each chosen model, and no other combination. */
export function VaryModels({ onClose }: { onClose: () => void }) {
  const { draft, change } = useSetup();
  const { variants } = draft;
  const [baseId, setBaseId] = useState(variants[0]?.id ?? '');
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<readonly Model[]>([]);
  const base = variants.find(({ id }) => id === baseId) ?? variants[0];
  const room = maxVariants - variants.length;
  const add = (): void => {
    if (!base) return;
    const copies = chosen
      .slice(0, room)
      .map(({ aiSystem, name }) => ({ ...base, id: crypto.randomUUID(), name: '', aiSystem, model: name }));
    change({ variants: [...variants, ...copies] });
    onClose();
  };
  const toggle = (model: Model, isChecked: boolean) =>
    setChosen(isChecked ? [...chosen, model] : chosen.filter((one) => modelKey(one) !== modelKey(model)));
  return (
    <Dialog
      title="Vary models"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            aria-disabled={chosen.length === 0 || chosen.length > room || undefined}
            onClick={add}
          >
            Add {formatPlural(chosen.length, 'variant')}
          </Button>
        </>
      }
    >
      <div className="setup__vary">
        <TextField
          label="Search models"
          isLabelHidden
          size="small"
          icon={Search}
          placeholder="Search models"
          value={words}
          onValueChange={setWords}
        />
        <CopiedVariant value={base?.id ?? null} onChange={setBaseId} />
        <ModelChoices words={words} chosen={chosen} onToggle={toggle} />
        {chosen.length > room && (
          <p className="caption negative" role="alert">
            A comparison has at most {maxVariants} variants
          </p>
        )}
      </div>
    </Dialog>
  );
}
