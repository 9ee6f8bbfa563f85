import { ArrowLeft, CircleX, ClipboardPaste, Info, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { Icon } from '../../../components/icon.tsx';
import { KeyCaps } from '../../../components/key-caps.tsx';
import { EmptyState } from '../../../components/state-panels.tsx';
import { type DraftTool, newTool, readTools, renamedChoice, toolTitle } from '../../../drafts/tool-drafts.ts';
import { useActions } from '../../../stores/actions.ts';
import { getActiveDraft, useActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import { showToast } from '../../../stores/toasts.ts';
import { type OpenPart, openToolId, useOpenParts } from '../session/playground-session.tsx';
import { PasteDialog } from './paste-dialog.tsx';
import { ToolEditor } from './tool-editor.tsx';
import { mockNames, SaveTool, ToolLibrary } from './tool-library.tsx';
import './tools.css';

const noTools: readonly DraftTool[] = [];

/** Changes a tool as it is now, or removes it: it may have changed since the caller was drawn. The choice of a tool follows its name. */
function changeTool(draftId: string, toolId: string, change: Partial<DraftTool> | null): void {
  const { drafts, change: changeDraft } = useDrafts.getState();
  const { tools = noTools, toolChoice } = drafts.find(({ id }) => id === draftId) ?? {};
  const before = tools.find(({ id }) => id === toolId);
  if (!before) return;
  const next = change && ({ ...before, ...change } as DraftTool);
  const name = next?.kind === 'function' ? next.name : null;
  const isRenamed = before.kind === 'function' && before.name !== '' && before.name !== name;
  changeDraft(draftId, {
    tools: tools.flatMap((tool) => (tool.id === toolId ? (next ?? []) : tool)),
    ...(isRenamed && { toolChoice: renamedChoice(toolChoice, before.name, name) }),
  });
}

function resultSource(tool: DraftTool): string {
  if (tool.kind === 'provider') return 'Run by the provider';
  return tool.mock === null ? 'By hand' : mockNames[tool.mock.kind];
}

interface ToolListProps {
  tools: readonly DraftTool[];
  selectedId: string | null;
  problemOf: (tool: DraftTool) => string | null;
  onSelect: (tool: DraftTool) => void;
}

function ToolList({ tools, selectedId, problemOf, onSelect }: ToolListProps) {
  return (
    <ul aria-label="Tools in this prompt">
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

function Toolbar({ tool, onClose }: { tool: DraftTool | null; onClose: () => void }) {
  const { id: draftId, name } = useActiveDraft();
  const remove = (): void => {
    if (!tool) return;
    const { id, tools, toolChoice } = getActiveDraft(useDrafts.getState());
    changeTool(draftId, tool.id, null);
    showToast({
      tone: 'neutral',
      text: `Removed ${toolTitle(tool)} from the prompt.`,
      action: { label: 'Undo', run: () => useDrafts.getState().change(id, { tools: tools ?? [], toolChoice }) },
    });
  };
  return (
    <div className="toolbar" role="toolbar" aria-label="Tools">
      <Button variant="quiet" icon={ArrowLeft} onClick={onClose}>
        <span className="truncate">{name}</span>
      </Button>
      <span className="strong">Tools</span>
      <span className="grow" />
      {tool?.kind === 'function' && (
        <SaveTool key={tool.id} tool={tool} onChange={(change) => changeTool(draftId, tool.id, change)} />
      )}
      {tool && <IconButton icon={Trash2} label="Remove from prompt" onClick={remove} />}
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
        <h2>In this prompt</h2>
        <span className="grow" />
        <IconButton icon={ClipboardPaste} label="Paste tools" size="small" onClick={onPaste} />
        <IconButton icon={Plus} label="Add tool" size="small" onClick={() => onAdd(newTool())} />
      </div>
      <div className="scroll grow">
        <ToolList {...list} />
        <ToolLibrary onAdd={onAdd} />
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

/** The action that closes the view, also with Escape. */
function useCloseAction(close: () => void, isEnabled: boolean): void {
  useActions('playground.tools', [
    {
      id: 'playground.tools.close',
      title: 'Close tools',
      group: 'Playground',
      keys: 'Escape',
      worksWhileTyping: true,
      isEnabled,
      run: close,
    },
  ]);
}

/** The tools of the open draft and of the library, in place of prompt and answer. */
export function ToolsView() {
  const draft = useActiveDraft();
  const { tools = noTools } = draft;
  const { openPart, open, close } = useOpenParts();
  const [isPasting, setPasting] = useState(false);
  const selected = tools.find(({ id }) => id === openToolId(openPart)) ?? tools[0] ?? null;
  const { problems } = readTools(draft);
  const problemOf = (tool: DraftTool) => problems.find(({ toolId }) => toolId === tool.id)?.problem ?? null;
  const select = (tool: DraftTool): void => open(`tools/${tool.id}` satisfies OpenPart);
  const add = (added: readonly DraftTool[]): void => {
    const [first] = added;
    useDrafts.getState().change(draft.id, { tools: [...tools, ...added] });
    if (first) select(first);
  };
  const done = (): void => {
    if (openPart !== null) close(openPart);
  };
  useCloseAction(done, !isPasting);
  return (
    <>
      <Toolbar tool={selected} onClose={done} />
      <div className="tools-view">
        <ToolsPanel
          tools={tools}
          selectedId={selected?.id ?? null}
          problemOf={problemOf}
          onSelect={select}
          onAdd={(tool) => add([tool])}
          onPaste={() => setPasting(true)}
        />
        {selected ? (
          <ToolEditor
            tool={selected}
            problem={problemOf(selected)}
            onChange={(change) => changeTool(draft.id, selected.id, change)}
          />
        ) : (
          <NoTools onAdd={(tool) => add([tool])} onPaste={() => setPasting(true)} />
        )}
      </div>
      {isPasting && (
        <PasteDialog
          onAdd={(added) => {
            setPasting(false);
            add(added);
          }}
          onClose={() => setPasting(false)}
        />
      )}
    </>
  );
}
