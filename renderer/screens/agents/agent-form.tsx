import { useId, useState, type FormEvent } from 'react';
import type { Agent, AgentInput } from '../../../shared/contract/agents.ts';
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

/** Name, model and prompt of an agent. */
export function AgentForm({ agent, onDone, onCancel }: AgentFormProps) {
  const promptId = useId();
  const [name, setName] = useState(agent?.name ?? '');
  const [prompt, setPrompt] = useState(agent?.prompt ?? '');
  const [model, setModel] = useState<Model>(agent ?? onDeviceChoice);
  const [isSubmitted, setSubmitted] = useState(false);
  const create = useCreateAgent();
  const update = useUpdateAgent();
  const undo = useRestoreAgent();
  const problem = name.trim() === '' ? 'Give it a name' : null;
  const error = create.error ?? update.error;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setSubmitted(true);
    if (problem) return;
    const input: AgentInput & { name: string; prompt: string; model: string; aiSystem: Model['aiSystem'] } = {
      name: name.trim(),
      prompt,
      model: model.model,
      aiSystem: model.aiSystem,
    };
    if (agent) {
      const before = {
        id: agent.id,
        name: agent.name,
        prompt: agent.prompt,
        model: agent.model,
        aiSystem: agent.aiSystem,
      };
      const onSuccess = (changed: Agent): void => {
        onDone(changed);
        showToast({
          tone: 'neutral',
          text: `"${changed.name}" is changed.`,
          action: { label: 'Undo', run: () => undo.mutate(before) },
        });
      };
      update.mutate({ id: agent.id, ...input }, { onSuccess });
    } else create.mutate(input, { onSuccess: onDone });
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
      <TextField
        label="Name"
        autoFocus
        maxLength={300}
        placeholder="Support desk"
        value={name}
        error={isSubmitted ? problem : null}
        onValueChange={setName}
      />
      <ModelField value={model} onChange={setModel} />
      <div className="labelled agents__prompt">
        <label htmlFor={promptId}>Prompt</label>
        <div className="field field--area">
          <textarea
            id={promptId}
            className="mono"
            rows={8}
            spellCheck={false}
            placeholder="Who it is and how it answers. Sent with every turn, as it is."
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
          />
        </div>
      </div>
      {agent && <p className="caption tertiary">Its conversations go on with what it is from now on.</p>}
      {error && (
        <p className="small negative" role="alert">
          {describeError(error).message}
        </p>
      )}
      <div className="row">
        <Button type="submit" variant="primary" keys="Mod+Enter" isBusy={create.isPending || update.isPending}>
          {agent ? 'Save' : 'Make the agent'}
        </Button>
        <Button variant="quiet" keys="Escape" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
