import { ChevronDown, Copy, FilePlus2, Pencil, Trash2 } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Badge } from '../../components/marks.tsx';
import { Menu } from '../../components/menu.tsx';
import { showToast } from '../../stores/toasts.ts';
import { useDrafts } from '../../stores/playground-drafts.ts';
import type { Draft } from '../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';

/** More are found by name in the command palette. */
const maxMenuItems = 12;

/** Creates a prompt and shows its template, where the focus goes. */
export function createEmptyDraft(): string {
  usePlaygroundView.setState({ promptView: 'template' });
  return useDrafts.getState().create();
}

/** Deletes at once; a toast gives the way back. */
export function deleteDraft(draft: Pick<Draft, 'id' | 'name'>, onOpen: (draftId: string) => void): void {
  const deleted = useDrafts.getState().remove(draft.id);
  if (!deleted) return;
  onOpen(useDrafts.getState().activeId);
  showToast({
    tone: 'neutral',
    text: `Deleted "${draft.name}". Its runs stay in the history.`,
    action: {
      label: 'Undo',
      run: () => {
        useDrafts.getState().restore(deleted);
        onOpen(draft.id);
      },
    },
  });
}

function NameField({ draft, onEnd }: { draft: Draft; onEnd: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [name, setName] = useState(draft.name);
  const isCancelled = useRef(false);
  useEffect(() => {
    input.current?.select();
  }, []);
  const finish = (): void => {
    const next = name.trim();
    if (!isCancelled.current && next !== '') useDrafts.getState().rename(draft.id, next);
    onEnd();
  };
  return (
    <div className="field prompt-name__field">
      <input
        ref={input}
        autoFocus
        aria-label="Prompt name"
        maxLength={120}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
          if (event.key !== 'Escape') return;
          event.preventDefault();
          isCancelled.current = true;
          event.currentTarget.blur();
        }}
      />
    </div>
  );
}

export interface DraftMenuProps {
  draft: Draft;
  isRenaming: boolean;
  onRenamingChange: (isRenaming: boolean) => void;
  onOpen: (draftId: string) => void;
}

/** The name of the prompt; under it the other prompts and what can be done with this one. */
export function DraftMenu({ draft, isRenaming, onRenamingChange, onOpen }: DraftMenuProps) {
  const drafts = useDrafts((state) => state.drafts);
  const { duplicate } = useDrafts.getState();
  if (isRenaming) return <NameField draft={draft} onEnd={() => onRenamingChange(false)} />;
  const newest = drafts.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, maxMenuItems);
  return (
    <>
      <Menu
        groups={[
          [
            { label: 'New prompt', icon: FilePlus2, onSelect: () => onOpen(createEmptyDraft()) },
            { label: 'Rename', icon: Pencil, onSelect: () => requestAnimationFrame(() => onRenamingChange(true)) },
            { label: 'Duplicate', icon: Copy, onSelect: () => onOpen(duplicate(draft.id)) },
          ],
          newest.map(({ id, name, updatedAt }) => ({
            label: name,
            detail: formatTime(new Date(updatedAt).toISOString()),
            isChecked: id === draft.id,
            onSelect: () => onOpen(id),
          })),
          [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: () => deleteDraft(draft, onOpen) }],
        ]}
      >
        <button type="button" className="row prompt-name">
          <span className="strong truncate">{draft.name}</span>
          <Icon icon={ChevronDown} size="small" />
        </button>
      </Menu>
      {draft.isExample && <Badge isOutlined>Example</Badge>}
    </>
  );
}
