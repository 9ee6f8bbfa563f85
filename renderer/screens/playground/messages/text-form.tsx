import { Plus } from 'lucide-react';
import { useCallback, useEffect, useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import type { EditDetails } from '../../../components/editor/code-editor.tsx';
import { formatWhole } from '../../../components/format.ts';
import { useActions } from '../../../stores/actions.ts';
import type { ReadNames } from '../editor/template-completion.ts';
import { type FocusAt, TemplateEditor, type TemplateMistake } from '../editor/template-editor.tsx';
import { useFocusTargets } from '../session/playground-session.tsx';
import { addMessage, hasRoles } from './message-edits.ts';
import { addKeys } from './message-list.tsx';
import type { PromptBlock, PromptDocument } from './prompt-document.ts';

/** Drawing more would hold the window for longer than 200 ms. */
export const maxMessageBlocks = 500;

/** Why a template with roles can be edited as text only. */
export function textOnlyReason(blocks: readonly PromptBlock[] | null): string {
  if (blocks !== null) return `More than ${formatWhole(maxMessageBlocks)} messages can be edited as text only.`;
  return 'A role is set inside a block such as {{#each}}, so this prompt can be edited as text only.';
}

interface TextFormProps {
  document: PromptDocument;
  names: ReadNames;
  mistakes: readonly TemplateMistake[];
  unfilled: readonly { start: number; end: number }[] | null;
  /** A role was typed. Blocks in place of the text would take the cursor away in the middle of a word. */
  onRoleTyped: () => void;
}

/** The whole template in one editor. */
export function TextForm({ document, names, mistakes, unfilled, onRoleTyped }: TextFormProps) {
  const focusTargets = useFocusTargets();
  const edit = (text: string, details: EditDetails): void => {
    const hadRoles = hasRoles(document.blocks);
    const isPasted = details.userEvent === 'input.paste';
    document.editText(text, details, { isFocused: isPasted });
    if (!hadRoles && !isPasted && hasRoles(document.blocks)) onRoleTyped();
  };
  const focus = useRef<FocusAt | null>(null);
  const onReady = useCallback(
    (focusAt: FocusAt) => {
      focus.current = focusAt;
      return focusTargets.add('prompt', focusAt);
    },
    [focusTargets],
  );
  useEffect(() => {
    const selection = document.takeFocus();
    if (selection) focus.current?.(selection.anchor, selection.head);
  });
  return (
    <TemplateEditor
      className="play__prompt"
      label="Prompt, Handlebars"
      hint="Write your prompt. Type {{name}} to add a variable."
      value={document.text}
      onValueChange={edit}
      names={names}
      mistakes={mistakes}
      unfilled={unfilled}
      onReady={onReady}
      sharedHistory={{ undo: () => document.undo(), redo: () => document.redo() }}
    />
  );
}

/** Makes messages of a prompt that has no roles. */
export function AddFirstMessage({ document, onAdd }: { document: PromptDocument; onAdd: () => void }) {
  const add = (): void => {
    onAdd();
    addMessage(document);
  };
  useActions('playground-messages', [
    { id: 'playground.message.add', title: 'Add message', group: 'Playground', keys: addKeys, run: add },
  ]);
  return (
    <div className="messages__first">
      <Button size="small" variant="quiet" icon={Plus} keys={addKeys} onClick={add}>
        Add message
      </Button>
    </div>
  );
}
