import { useState } from 'react';
import type { ReplayInput, ReplayTarget } from '../../shared/contract/audit-replay.ts';
import type { AiSystem } from '../../shared/contract/common.ts';
import { providerName } from '../../shared/provider-names.ts';
import { Button } from './button.tsx';
import { Combobox, type ComboboxOption } from './combobox.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorFailure } from './state-panels.tsx';
import { TextField } from './text-field.tsx';
import { useCreateReplay } from '../queries/audit-jobs.ts';
import { useModels } from '../queries/providers.ts';
import { readNumber } from './format.ts';
import { replayAddress } from '../shell/addresses.ts';
import { useOpenResult } from '../shell/navigate-from-here.ts';

const sameModel = 'same';

function useModelOptions(): ComboboxOption[] {
  const models = useModels().data?.data ?? [];
  const options = models
    .filter(({ hasEnded }) => !hasEnded)
    .toSorted((one, other) => Number(other.isReady) - Number(one.isReady))
    .map(({ aiSystem, name, isReady }) => ({
      value: `${aiSystem}/${name}`,
      label: name,
      group: providerName(aiSystem),
      detail: isReady ? undefined : 'no key',
      isDisabled: !isReady,
    }));
  return [{ value: sameModel, label: 'Original model', group: 'Unchanged' }, ...options];
}

interface Target {
  model: string;
  temperature: string;
  promptText: string;
}

/** The changes for the replay; null for an invalid temperature. */
function readTarget({ model, temperature, promptText }: Target): ReplayTarget | null {
  const degrees = readNumber(temperature);
  if (degrees === null || (degrees !== undefined && (degrees < 0 || degrees > 2))) return null;
  const split = model.indexOf('/');
  return {
    ...(model !== sameModel && { aiSystem: model.slice(0, split) as AiSystem, model: model.slice(split + 1) }),
    ...(degrees !== undefined && { configuration: { temperature: degrees } }),
    ...(promptText.trim() !== '' && { promptText }),
  };
}

interface ReplayFieldsProps {
  target: Target;
  /** Why the temperature is invalid; null when it is valid. */
  problem: string | null;
  /** The template to start the new version from; null if the runs don't share one. */
  promptText: string | null;
  onChange: (change: Partial<Target>) => void;
}

function ReplayFields({ target, problem, promptText, onChange }: ReplayFieldsProps) {
  const options = useModelOptions();
  return (
    <>
      <div className="labelled">
        <span className="label">Model</span>
        <Combobox
          label="Model"
          value={target.model}
          shown={options.find(({ value }) => value === target.model)?.label ?? target.model}
          options={options}
          onValueChange={(model) => onChange({ model })}
          placeholder="Search models"
        />
      </div>
      <TextField
        label="Temperature"
        inputMode="decimal"
        placeholder="Unchanged"
        value={target.temperature}
        onValueChange={(temperature) => onChange({ temperature })}
        error={problem}
      />
      <div className="labelled">
        <label htmlFor="replay-prompt">Replace prompt</label>
        <div className="field field--area mono">
          <textarea
            id="replay-prompt"
            rows={2}
            spellCheck={false}
            placeholder="Unchanged"
            value={target.promptText}
            onChange={(event) => onChange({ promptText: event.target.value })}
          />
        </div>
      </div>
      {promptText !== null && target.promptText === '' && (
        <div>
          <Button size="small" variant="quiet" onClick={() => onChange({ promptText })}>
            Start from this run's prompt
          </Button>
        </div>
      )}
    </>
  );
}

export interface ReplayDialogProps {
  selection: ReplayInput['selection'];
  /** The runs to replay, as text: `3 selected conversations`. */
  subject: string;
  /** The template of a single run, to start another version from. */
  promptText: string | null;
  /** The initial model; the default keeps the model of each run. */
  model?: { aiSystem: AiSystem; name: string };
  isOpen: boolean;
  onClose: () => void;
}

/** Runs a selection again, on another model or version, to see what changes. */
export function ReplayDialog({ selection, subject, promptText, model, isOpen, onClose }: ReplayDialogProps) {
  const openResult = useOpenResult();
  const create = useCreateReplay(({ id, name }) => {
    openResult({ address: replayAddress(id), text: `Started "${name}".`, beforeOpening: onClose });
  });
  const [target, setTarget] = useState<Target>({
    model: model ? `${model.aiSystem}/${model.name}` : sameModel,
    temperature: '',
    promptText: '',
  });
  const read = readTarget(target);
  const begin = () => {
    if (read) create.mutate({ selection, target: read });
  };
  const footer = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" isBusy={create.isPending} aria-disabled={read === null || undefined} onClick={begin}>
        Replay
      </Button>
    </>
  );
  return (
    <Dialog title={`Replay ${subject}`} isOpen={isOpen} onClose={onClose} footer={footer}>
      <p className="small secondary">
        Reruns each run with its original variables. Each rerun costs 1 credit plus provider charges. At most 500 at a
        time.
      </p>
      <ReplayFields
        target={target}
        problem={read === null ? 'Must be a number from 0 to 2' : null}
        promptText={promptText}
        onChange={(change) => setTarget({ ...target, ...change })}
      />
      {create.error && <ErrorFailure title="Couldn't start the replay" error={create.error} />}
    </Dialog>
  );
}
