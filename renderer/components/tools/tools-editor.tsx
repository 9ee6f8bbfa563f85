import { ArrowLeft, CircleX, ClipboardPaste, Info, Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../button.tsx';
import { classNames } from '../class-names.ts';
import { Icon } from '../icon.tsx';
import { KeyCaps } from '../key-caps.tsx';
import { EmptyState } from '../state-panels.tsx';
import {
  changeTool,
  type DraftTool,
  type DraftTools,
  newTool,
  readTools,
  toolTitle,
} from '../../drafts/tool-drafts.ts';
import { showToast } from '../../stores/toasts.ts';
import { PasteDialog } from './paste-dialog.tsx';
import { ToolEditor } from './tool-editor.tsx';
import { mockNames, SaveTool, ToolLibrary, type ToolsSubject } from './tool-library.tsx';
import './tools.css';

const noTools: readonly DraftTool[] = [];

function resultSource(tool: DraftTool): string {
  if (tool.kind === 'provider') return 'Run by the provider';
  return tool.mock === null ? 'By hand' : mockNames[tool.mock.kind];
}

interface ToolListProps {
  tools: readonly DraftTool[];
  selectedId: string | null;
  problemOf: (tool: DraftTool) => string | null;
  onSelect: (tool: DraftTool) => void;
  subject: ToolsSubject;
}

function ToolList({ tools, selectedId, problemOf, onSelect, subject }: ToolListProps) {
  return (
    <ul aria-label={`Tools in this ${subject}`}>
      {tools.map((tool) => {
        const problem = problemOf(tool);
        return (
          <li key={tool.id} className={classNames('tool-row', tool.id === selectedId && 'is-selected')}>
            <button
              type="button"
              className="tool-row__open"
              aria-current={tool.id === selectedId || undefined}
              onClick={() => onSelect(tool)}
            >
              <span className="mono truncate">{toolTitle(tool)}</span>
              {problem !== null && (
                <span className="negative row" title={problem}>
                  <Icon icon={CircleX} size="tiny" />
                  <span className="visually-hidden">{problem}</span>
                </span>
              )}
              <span className="caption tertiary truncate">{resultSource(tool)}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

type ToolbarProps = Pick<ToolsEditorProps, 'draft' | 'onChange' | 'title' | 'subject' | 'onClose'> & {
  tool: DraftTool | null;
};

function Toolbar({ tool, draft, onChange, title, subject, onClose }: ToolbarProps) {
  const remove = (): void => {
    if (!tool) return;
    const { tools = noTools, toolChoice } = draft;
    const position = tools.indexOf(tool);
    onChange((before) => changeTool(before, tool.id, null));
    showToast({
      tone: 'neutral',
      text: `Removed ${toolTitle(tool)} from the ${subject}.`,
      action: {
        label: 'Undo',
        run: () =>
          onChange((before) => ({
            tools: (before.tools ?? noTools).toSpliced(position, 0, tool),
            toolChoice: before.toolChoice ?? toolChoice,
          })),
      },
    });
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Tools">
      <Button variant="quiet" icon={ArrowLeft} onClick={onClose}>
        <span className="truncate">{title}</span>
      </Button>
      <span className="strong">Tools</span>
      <span className="grow" />
      {tool?.kind === 'function' && (
        <SaveTool
          key={tool.id}
          tool={tool}
          onChange={(change) => onChange((before) => changeTool(before, tool.id, change))}
        />
      )}
      {tool && <IconButton icon={Trash2} label={`Remove from ${subject}`} onClick={remove} />}
      <Button onClick={onClose}>
        Done <KeyCaps keys="Escape" />
      </Button>
    </div>
  );
}

interface ToolsPanelProps extends ToolListProps {
  onAdd: (tool: DraftTool) => void;
  onPaste: () => void;
}

/** The tools to edit or to add, beside the editor. */
function ToolsPanel({ onAdd, onPaste, ...list }: ToolsPanelProps) {
  return (
    <nav className="panel panel--inset line-right tools-view__list" aria-label="Tools">
      <div className="header">
        <h2>In this {list.subject}</h2>
        <span className="grow" />
        <IconButton icon={ClipboardPaste} label="Paste tools" size="small" onClick={onPaste} />
        <IconButton icon={Plus} label="Add tool" size="small" onClick={() => onAdd(newTool())} />
      </div>
      <div className="scroll grow">
        <ToolList {...list} />
        <ToolLibrary subject={list.subject} onAdd={onAdd} />
      </div>
      <p className="caption tertiary tools-view__note">
        <Icon icon={Info} size="tiny" />
        <span>Touchstone doesn&apos;t run tools. You choose what each call returns.</span>
      </p>
    </nav>
  );
}

function NoTools({ onAdd, onPaste }: Pick<ToolsPanelProps, 'onAdd' | 'onPaste'>) {
  return (
    <section className="panel tools-view__editor" aria-label="No tool">
      <EmptyState title="No tools" reason="Add a tool, paste one, or choose one from the library.">
        <Button icon={Plus} onClick={() => onAdd(newTool())}>
          Add tool
        </Button>
        <Button icon={ClipboardPaste} onClick={onPaste}>
          Paste tools
        </Button>
      </EmptyState>
    </section>
  );
}

export interface ToolsEditorProps {
  draft: DraftTools;
  /** Changes the tools as they are now: they may have changed since the caller was drawn. */
  onChange: (change: (before: DraftTools) => DraftTools) => void;
  subject: ToolsSubject;
  /** On the button that leads back. */
  title: string;
  /** The first tool is open if no tool has this id. */
  selectedId: string | null;
  onSelect: (toolId: string) => void;
  /** A run that a recording can be taken from. */
  shownRunId: string | null;
  isPasting: boolean;
  onPastingChange: (isPasting: boolean) => void;
  onClose: () => void;
}

/** The tools of a prompt or an agent, and those of the library. */
export function ToolsEditor(props: ToolsEditorProps) {
  const { draft, onChange, subject, selectedId, onSelect, shownRunId, isPasting, onPastingChange } = props;
  const { tools = noTools } = draft;
  const selected = tools.find(({ id }) => id === selectedId) ?? tools[0] ?? null;
  const { problems } = readTools(draft);
  const problemOf = (tool: DraftTool) => problems.find(({ toolId }) => toolId === tool.id)?.problem ?? null;
  const add = (added: readonly DraftTool[]): void => {
    const [first] = added;
    onChange((before) => ({ ...before, tools: [...(before.tools ?? noTools), ...added] }));
    if (first) onSelect(first.id);
  };
  return (
    <>
      <Toolbar tool={selected} {...props} />
      <div className="tools-view">
        <ToolsPanel
          tools={tools}
          subject={subject}
          selectedId={selected?.id ?? null}
          problemOf={problemOf}
          onSelect={({ id }) => onSelect(id)}
          onAdd={(tool) => add([tool])}
          onPaste={() => onPastingChange(true)}
        />
        {selected ? (
          <ToolEditor
            tool={selected}
            problem={problemOf(selected)}
            shownRunId={shownRunId}
            onChange={(change) => onChange((before) => changeTool(before, selected.id, change))}
          />
        ) : (
          <NoTools onAdd={(tool) => add([tool])} onPaste={() => onPastingChange(true)} />
        )}
      </div>
      {isPasting && (
        <PasteDialog
          onAdd={(added) => {
            onPastingChange(false);
            add(added);
          }}
          onClose={() => onPastingChange(false)}
        />
      )}
    </>
  );
}
