import { CircleX, Plus } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Select, type SelectOption } from '../../../components/select.tsx';
import {
  type DraftTool,
  newTool,
  readTools,
  renamedChoice,
  type ToolProblem,
  toolsField,
  toolTitle,
} from '../../../drafts/tool-drafts.ts';
import { chosenFunction } from '../../../../shared/contract/tools.ts';
import { type Draft, useActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import { useFieldRef } from '../session/playground-session.tsx';
import { ToolDialog } from './tool-dialog.tsx';
import './tools.css';

const noTools: readonly DraftTool[] = [];

function changeTool({ id, tools = noTools, toolChoice }: Draft, before: DraftTool, next: DraftTool | null): void {
  const wasNamed = before.kind === 'function' && before.name !== '';
  const name = next?.kind === 'function' ? next.name : null;
  useDrafts.getState().change(id, {
    tools: tools.flatMap((tool) => (tool.id === before.id ? (next ?? []) : tool)),
    ...(wasNamed && before.name !== name && { toolChoice: renamedChoice(toolChoice, before.name, name) }),
  });
}

const automatic = 'default';
const functionPrefix = 'function:';

/** The value of the select for a choice; a provider's own form is kept as its JSON. */
function choiceValue(choice: unknown): string {
  if (choice === null || choice === undefined) return automatic;
  if (typeof choice === 'string') return choice;
  const name = chosenFunction({ tool_choice: choice });
  return name === null ? JSON.stringify(choice) : `${functionPrefix}${name}`;
}

function choiceOf(value: string): unknown {
  if (value === automatic) return null;
  if (value.startsWith(functionPrefix))
    return { type: 'function', function: { name: value.slice(functionPrefix.length) } };
  return value.startsWith('{') ? (JSON.parse(value) as unknown) : value;
}

/** `tool_choice` and `parallel_tool_calls`, once the draft has tools. */
export function ToolParameters() {
  const { id, tools = noTools, toolChoice, parallelToolCalls = null } = useActiveDraft();
  if (tools.length === 0) return null;
  const names = tools.flatMap((tool) => (tool.kind === 'function' && tool.name !== '' ? [tool.name] : []));
  const chosen = choiceValue(toolChoice);
  const values = [automatic, 'auto', 'none', 'required', ...names.map((name) => `${functionPrefix}${name}`)];
  const options = [...new Set([...values, chosen])].map((value): SelectOption<string> => ({
    value,
    label: value === automatic ? 'Default' : value.replace(functionPrefix, ''),
    group: value.startsWith(functionPrefix) ? 'Call this tool' : '',
  }));
  const { change } = useDrafts.getState();
  return (
    <div className="params tool-parameters" role="group" aria-label="Parameters of tools">
      <div className="param">
        <span className="param__name mono--small" aria-hidden="true">
          tool_choice
        </span>
        <Select
          label="tool_choice"
          size="small"
          value={chosen}
          options={options}
          onValueChange={(value) => change(id, { toolChoice: choiceOf(value) })}
        />
      </div>
      <div className="param">
        <span className="param__name mono--small" aria-hidden="true">
          parallel_tool_calls
        </span>
        <Select
          label="parallel_tool_calls"
          size="small"
          value={parallelToolCalls === null ? automatic : String(parallelToolCalls)}
          options={[
            { value: automatic, label: 'Default' },
            { value: 'true', label: 'true' },
            { value: 'false', label: 'false' },
          ]}
          onValueChange={(value) => change(id, { parallelToolCalls: value === automatic ? null : value === 'true' })}
        />
      </div>
    </div>
  );
}

function ToolChip({ tool, problem, onOpen }: { tool: DraftTool; problem: string | null; onOpen: () => void }) {
  return (
    <button type="button" className="tool-chip mono--small" title={problem ?? undefined} onClick={onOpen}>
      <span className="truncate">{toolTitle(tool)}</span>
      {problem && (
        <span className="negative row">
          <Icon icon={CircleX} size="tiny" />
          <span className="visually-hidden">{problem}</span>
        </span>
      )}
    </button>
  );
}

function problemOf(problems: readonly ToolProblem[], tool: DraftTool): string | null {
  return problems.find(({ toolId }) => toolId === tool.id)?.problem ?? null;
}

/** The tools of the open draft, each as a button that opens it. */
export function ToolsRow() {
  const draft = useActiveDraft();
  const { tools = noTools } = draft;
  const fieldRef = useFieldRef();
  const [openId, setOpenId] = useState<string | null>(null);
  const { problems } = readTools(draft);
  const open = tools.find(({ id }) => id === openId);
  const add = (): void => {
    const tool = newTool();
    useDrafts.getState().change(draft.id, { tools: [...tools, tool] });
    setOpenId(tool.id);
  };
  const general = problems.find(({ toolId }) => toolId === null)?.problem;
  return (
    <section className="tools-row line-top" aria-label="Tools" tabIndex={-1} ref={fieldRef(`parameter/${toolsField}`)}>
      <h2 className="section-title">Tools</h2>
      {tools.map((tool) => (
        <ToolChip key={tool.id} tool={tool} problem={problemOf(problems, tool)} onOpen={() => setOpenId(tool.id)} />
      ))}
      {tools.length === 0 ? (
        <Button size="small" variant="quiet" icon={Plus} onClick={add}>
          Add tool
        </Button>
      ) : (
        <IconButton icon={Plus} label="Add tool" size="small" onClick={add} />
      )}
      {general && <span className="caption negative">{general}</span>}
      {open && (
        <ToolDialog
          tool={open}
          problem={problemOf(problems, open)}
          onChange={(tool) => changeTool(draft, open, tool)}
          onRemove={() => {
            setOpenId(null);
            changeTool(draft, open, null);
          }}
          onClose={() => setOpenId(null)}
        />
      )}
    </section>
  );
}
