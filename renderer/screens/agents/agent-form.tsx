import { ChevronRight } from 'lucide-react';
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { DataspaceChoice } from '../../components/dataspace-choice.tsx';
import { ModelField } from '../../components/models/model-field.tsx';
import { ParametersPanel } from '../../components/parameters-panel.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { writeConfiguration } from '../../drafts/parameter-model.ts';
import { useCreateAgent, useRestoreAgent, useUpdateAgent } from '../../queries/agents.ts';
import { useModels } from '../../queries/providers.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { useIsOpen } from '../../shell/navigate-from-here.ts';
import { keepAgentMocks } from '../../stores/agents.ts';
import { showToast } from '../../stores/toasts.ts';
import { AgentTools } from './agent-tools.tsx';
import {
  type AgentFields,
  BasePromptField,
  basePromptText,
  countParameters,
  newAgentFields,
  readAgentFields,
  restoredAgent,
  unreplacedVariables,
  writeAgentFields,
} from './agent-fields.tsx';

/** Saves a new agent, or a change that can be undone. */
function useSaveAgent(agent: Agent | null, onDone: (agent: Agent) => void) {
  const [, navigate] = useLocation();
  const isOpen = useIsOpen();
  const create = useCreateAgent();
  const update = useUpdateAgent();
  const undo = useRestoreAgent();
  const showSaved = (before: Agent, changed: Agent): void => {
    showToast({
      tone: 'neutral',
      text: `Saved "${changed.name}".`,
      action: { label: 'Undo', run: () => undo.mutate({ id: before.id, ...restoredAgent(before) }) },
    });
  };
  return {
    error: create.error ?? update.error,
    isPending: create.isPending || update.isPending,
    save(body: ReturnType<typeof restoredAgent>, tools: AgentFields['tools']): void {
      const keepMocks = ({ id }: Agent): void => {
        if (keepAgentMocks(id, tools)) return;
        const text = "The mocks are larger than 500 KB and weren't kept. Save their tools to the library.";
        showToast({ tone: 'negative', text });
      };
      // Also after the form is left: the host has the agent's tools without their mocks.
      const saved = (changed: Agent): void => {
        keepMocks(changed);
        if (isOpen()) onDone(changed);
        if (agent !== null) return showSaved(agent, changed);
        if (isOpen()) return;
        const action = { label: 'Open', run: () => navigate(agentAddress(changed.id)) };
        showToast({ tone: 'neutral', text: `Created "${changed.name}".`, action });
      };
      const saving = agent === null ? create.mutateAsync(body) : update.mutateAsync({ id: agent.id, ...body });
      saving.then(saved, () => {});
    },
  };
}

function PromptField({ value, onChange }: { value: string; onChange: (prompt: string) => void }) {
  const id = useId();
  const variables = unreplacedVariables(value);
  return (
    <div className="labelled agents__prompt">
      <label htmlFor={id}>Prompt</label>
      <div className="field field--area">
        <textarea
          id={id}
          className="mono"
          rows={8}
          spellCheck={false}
          placeholder="System message. Sent with every turn."
          aria-describedby={variables.length > 0 ? `${id}-variables` : undefined}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </div>
      {variables.length > 0 && (
        <p id={`${id}-variables`} className="caption caution">
          Variables aren't replaced here: {variables.map((name) => `{{${name}}}`).join(', ')}
        </p>
      )}
    </div>
  );
}

/** A collapsed part of the form, open from the start if something in it is set. */
function FormSection({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  const [isInitiallyOpen] = useState(count > 0);
  return (
    <details className="agents__section" open={isInitiallyOpen}>
      <summary>
        <Icon icon={ChevronRight} size="small" />
        {title}
        {count > 0 && <span className="caption tertiary">{count} set</span>}
      </summary>
      {children}
    </details>
  );
}

function useAgentForm(agent: Agent | null, onDone: (agent: Agent) => void) {
  const [fields, setFields] = useState<AgentFields>(() => (agent === null ? newAgentFields() : readAgentFields(agent)));
  const [problem, setProblem] = useState<string | null>(null);
  const saving = useSaveAgent(agent, onDone);
  const model = useModels().data?.data.find(
    ({ aiSystem, name }) => aiSystem === fields.aiSystem && name === fields.model,
  );
  return {
    ...saving,
    fields,
    model: model ?? null,
    problem,
    change: (changed: Partial<AgentFields> | ((before: AgentFields) => Partial<AgentFields>)): void => {
      setFields((before) => ({ ...before, ...(typeof changed === 'function' ? changed(before) : changed) }));
      setProblem(null);
    },
    submit: (event: FormEvent): void => {
      event.preventDefault();
      // Ctrl+Enter doesn't pass the button, which takes no click meanwhile.
      if (saving.isPending) return;
      const written = writeAgentFields(fields, model ?? null);
      if ('problem' in written) return setProblem(written.problem);
      saving.save(written.body, fields.tools);
    },
  };
}

type Form = ReturnType<typeof useAgentForm>;

function FormFields({ fields, model, problem, change }: Form) {
  return (
    <>
      <TextField
        label="Name"
        autoFocus
        maxLength={300}
        placeholder="Support desk"
        value={fields.name}
        error={fields.name.trim() === '' ? problem : null}
        onValueChange={(name) => change({ name })}
      />
      <BasePromptField
        base={fields}
        prompt={fields.prompt}
        onChoose={(version) =>
          change({
            prompt: basePromptText(version),
            promptId: version.promptId,
            promptVersionId: version.id,
            ...(version.model !== null && { model: version.model, aiSystem: version.aiSystem ?? 'ServiceAi' }),
            ...(version.configuration !== null && writeConfiguration(version.configuration, fields.tools)),
          })
        }
        onDetach={() => change({ promptId: null, promptVersionId: null })}
      />
      <ModelField value={fields} onChange={change} />
      <PromptField value={fields.prompt} onChange={(prompt) => change({ prompt })} />
      <div className="labelled">
        <span className="label">Dataspaces</span>
        <DataspaceChoice dataspaceIds={fields.dataspaceIds} onChange={(dataspaceIds) => change({ dataspaceIds })} />
      </div>
      <FormSection title="Tools" count={fields.tools.length}>
        <AgentTools fields={fields} onChange={change} />
      </FormSection>
      <FormSection title="Parameters" count={countParameters(fields)}>
        <ParametersPanel draft={fields} model={model} onChange={change} />
      </FormSection>
    </>
  );
}

export interface AgentFormProps {
  /** Null creates a new one. */
  agent: Agent | null;
  onDone: (agent: Agent) => void;
  onCancel: () => void;
}

/** Name, prompt, model, dataspaces and parameters of an agent. */
export function AgentForm({ agent, onDone, onCancel }: AgentFormProps) {
  const form = useAgentForm(agent, onDone);
  const { submit, error, isPending, problem, fields } = form;
  const title = agent ? `Edit ${agent.name}` : 'New agent';
  return (
    <form
      className="agents__form"
      aria-label={title}
      onSubmit={submit}
      onKeyDown={(event) => {
        // The model picker and the popovers float outside the form and have their own keys.
        if (!event.currentTarget.contains(event.target as Node)) return;
        if (event.key === 'Escape') onCancel();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      <h2 className="object-title truncate">{title}</h2>
      <FormFields {...form} />
      {agent && <p className="caption tertiary">Changes apply to all its conversations from now on.</p>}
      {problem !== null && fields.name.trim() !== '' && (
        <p className="small negative" role="alert">
          {problem}
        </p>
      )}
      {error && (
        <p className="small negative" role="alert">
          {describeError(error).message}
        </p>
      )}
      <div className="row agents__form-actions">
        <Button type="submit" variant="primary" keys="Mod+Enter" isBusy={isPending}>
          {agent ? 'Save' : 'Create agent'}
        </Button>
        <Button variant="quiet" keys="Escape" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
