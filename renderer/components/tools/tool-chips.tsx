import { CircleX, Plus } from 'lucide-react';
import { chosenFunction } from '../../../shared/contract/tools.ts';
import { type DraftTool, type DraftTools, readTools, type ToolProblem, toolTitle } from '../../drafts/tool-drafts.ts';
import { Button, IconButton } from '../button.tsx';
import { Icon } from '../icon.tsx';
import { Select, type SelectOption } from '../select.tsx';
import './tools.css';

const noTools: readonly DraftTool[] = [];

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

interface ToolParametersProps {
  draft: DraftTools;
  onChange: (change: Pick<DraftTools, 'toolChoice' | 'parallelToolCalls'>) => void;
}

/** `tool_choice` and `parallel_tool_calls`, once there are tools. */
export function ToolParameters({ draft, onChange }: ToolParametersProps) {
  const { tools = noTools, toolChoice, parallelToolCalls = null } = draft;
  if (tools.length === 0) return null;
  const names = tools.flatMap((tool) => (tool.kind === 'function' && tool.name !== '' ? [tool.name] : []));
  const chosen = choiceValue(toolChoice);
  const values = [automatic, 'auto', 'none', 'required', ...names.map((name) => `${functionPrefix}${name}`)];
  const options = [...new Set([...values, chosen])].map((value): SelectOption<string> => ({
    value,
    label: value === automatic ? 'Default' : value.replace(functionPrefix, ''),
    group: value.startsWith(functionPrefix) ? 'Call this tool' : '',
  }));
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
          onValueChange={(value) => onChange({ toolChoice: choiceOf(value) })}
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
          onValueChange={(value) => onChange({ parallelToolCalls: value === automatic ? null : value === 'true' })}
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

interface ToolChipsProps {
  draft: DraftTools;
  /** Opens the tool editor, with a new tool if the id is empty. */
  onOpen: (toolId: string) => void;
}

/** Tools, each as a button that opens the tool editor. */
export function ToolChips({ draft, onOpen }: ToolChipsProps) {
  const { tools = noTools } = draft;
  const { problems } = readTools(draft);
  const general = problems.find(({ toolId }) => toolId === null)?.problem;
  return (
    <>
      {tools.map((tool) => (
        <ToolChip key={tool.id} tool={tool} problem={problemOf(problems, tool)} onOpen={() => onOpen(tool.id)} />
      ))}
      {tools.length === 0 ? (
        <Button size="small" variant="quiet" icon={Plus} onClick={() => onOpen('')}>
          Add tool
        </Button>
      ) : (
        <IconButton icon={Plus} label="Add tool" size="small" onClick={() => onOpen('')} />
      )}
      {general && <span className="caption negative">{general}</span>}
    </>
  );
}
