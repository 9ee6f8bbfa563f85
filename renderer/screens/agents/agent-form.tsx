import { useId, useState, type FormEvent } from 'react';
import type { Agent } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { ModelButton } from '../../components/models/model-button.tsx';
import { modelKey } from '../../components/models/model-list.ts';
import { ModelPicker } from '../../components/models/model-picker.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useCreateAgent, useRestoreAgent, useUpdateAgent } from '../../queries/agents.ts';
import { onDeviceChoice } from '../../stores/playground-drafts.ts';
import { showToast } from '../../stores/toasts.ts';

export interface AgentFormProps {
  /** Null makes a new one. */
  agent: Agent | null;
  onDone: (agent: Agent) => void;
  onCancel: () => void;
}

type Model = Pick<Agent, 'aiSystem' | 'model'>;

function ModelField({ value, onChange }: { value: Model; onChange: (model: Model) => void }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const choose = ({ aiSystem, name }: { aiSystem: Model['aiSystem']; name: string }): void => {
    onChange({ aiSystem, model: name });
    setOpen(false);
  };
  return (
    <div className="labelled">
      <span id={`${id}-label`} className="label">
        Model
      </span>
      <ModelButton
        id={id}
        aria-labelledby={`${id}-label ${id}`}
        model={value.model}
        place={value.aiSystem}
        isOpen={isOpen}
        onClick={() => setOpen(true)}
      />
      <ModelPicker
        isOpen={isOpen}
        chosenKey={modelKey({ aiSystem: value.aiSystem, name: value.model })}
        onChoose={choose}
        onChooseAndRun={choose}
        onClose={() => setOpen(false)}
      />
    </div>
  );
}

type Fields = Pick<Agent, 'name' | 'prompt' | 'aiSystem' | 'model'>;

const fieldsOf = ({ name, prompt, aiSystem, model }: Fields): Fields => ({ name, prompt, aiSystem, model });

/** Makes an agent, or changes one with the way back. */
function useSaveAgent(agent: Agent | null, onDone: (agent: Agent) => void) {
  const create = useCreateAgent();
  const update = useUpdateAgent();
  const undo = useRestoreAgent();
  const showChanged = (before: Agent, changed: Agent): void => {
    onDone(changed);
    showToast({
      tone: 'neutral',
      text: `"${changed.name}" is changed.`,
      action: { label: 'Undo', run: () => undo.mutate({ id: before.id, ...fieldsOf(before) }) },
    });
  };
  return {
    error: create.error ?? update.error,
    isPending: create.isPending || update.isPending,
    save(fields: Fields): void {
      if (agent === null) return create.mutate(fields, { onSuccess: onDone });
      update.mutate({ id: agent.id, ...fields }, { onSuccess: (changed) => showChanged(agent, changed) });
    },
  };
}

function PromptField({ value, onChange }: { value: string; onChange: (prompt: string) => void }) {
  const id = useId();
  return (
    <div className="labelled agents__prompt">
      <label htmlFor={id}>Prompt</label>
      <div className="field field--area">
        <textarea
          id={id}
          className="mono"
          rows={8}
          spellCheck={false}
          placeholder="Who it is and how it answers. Sent with every turn, as it is."
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
    </div>
  );
}

const newAgent: Fields = { name: '', prompt: '', ...onDeviceChoice };

/** Name, model and prompt of an agent. */
export function AgentForm({ agent, onDone, onCancel }: AgentFormProps) {
  const [fields, setFields] = useState<Fields>(fieldsOf(agent ?? newAgent));
  const [isSubmitted, setSubmitted] = useState(false);
  const { save, error, isPending } = useSaveAgent(agent, onDone);
  const change = (changed: Partial<Fields>): void => setFields({ ...fields, ...changed });
  const name = fields.name.trim();
  const problem = name === '' ? 'Give it a name' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSubmitted(true);
    if (!problem) save({ ...fields, name });
  };
  return (
    <form
      className="agents__form"
      aria-label={agent ? `Edit ${agent.name}` : 'New agent'}
      onSubmit={submit}
      onKeyDown={(event) => {
        // The model picker floats outside the form, and its keys are its own.
        if (!event.currentTarget.contains(event.target as Node)) return;
        if (event.key === 'Escape') onCancel();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <h2 className="object-title truncate">{agent ? `Edit ${agent.name}` : 'New agent'}</h2>
      <TextField
        label="Name"
        autoFocus
        maxLength={300}
        placeholder="Support desk"
        value={fields.name}
        error={isSubmitted ? problem : null}
        onValueChange={(typed) => change({ name: typed })}
      />
      <ModelField value={fields} onChange={change} />
      <PromptField value={fields.prompt} onChange={(prompt) => change({ prompt })} />
      {agent && <p className="caption tertiary">Its conversations go on with what it is from now on.</p>}
      {error && (
        <p className="small negative" role="alert">
          {describeError(error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" keys="Mod+Enter" isBusy={isPending}>
          {agent ? 'Save' : 'Make the agent'}
        </Button>
        <Button variant="quiet" keys="Escape" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
