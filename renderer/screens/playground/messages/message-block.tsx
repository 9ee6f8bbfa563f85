import { Prec, type Extension } from '@codemirror/state';
import { keymap, type EditorView } from '@codemirror/view';
import { ArrowDown, ArrowUp, ChevronDown, ChevronRight, GripVertical, X } from 'lucide-react';
import { type DragEvent, type KeyboardEvent, memo, useCallback, useMemo } from 'react';
import type { PromptRole } from '../../../../shared/prompt-messages.ts';
import { Badge } from '../../../components/badges.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import type { EditDetails, SharedHistory } from '../../../components/editor/code-editor.tsx';
import { estimateTokens, formatPlural } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { roleTitles } from '../../../components/sent-messages.ts';
import { useWasInView } from '../../../components/use-was-in-view.ts';
import type { TemplateNames } from '../editor/template-completion.ts';
import { type FocusAt, TemplateEditor, type TemplateMistake } from '../editor/template-editor.tsx';
import { messageName, promptRoles } from './message-edits.ts';

/** What a block does to the list that it is in. Every function is stable. */
export interface BlockActions extends SharedHistory {
  edit: (id: number, text: string, details: EditDetails) => void;
  changeRole: (id: number, role: PromptRole) => void;
  /** By one position, up or down. */
  move: (id: number, by: 1 | -1) => void;
  remove: (id: number) => void;
  toggle: (id: number) => void;
  /** Moves the cursor to the message before or after; false if there is none. */
  leave: (id: number, by: 1 | -1) => boolean;
  names: (id: number) => Promise<TemplateNames>;
  /** Returns the function that removes the editor. */
  register: (id: number, focus: FocusAt) => () => void;
  startDrag: (id: number) => void;
  endDrag: () => void;
}

export interface MessageBlockProps {
  id: number;
  index: number;
  count: number;
  role: PromptRole;
  text: string;
  isExample: boolean;
  isFolded: boolean;
  /** Whether it is drawn in full at once. The others are plain text until they come into view. */
  isEager: boolean;
  mistakes: readonly TemplateMistake[];
  unfilled: readonly { start: number; end: number }[] | null;
  actions: BlockActions;
}

/** The arrow keys leave a message at its first and at its last position. */
function leavingKeys(id: number, leave: BlockActions['leave']): Extension {
  const at = (position: (view: EditorView) => number, by: 1 | -1) => (view: EditorView) => {
    const { main } = view.state.selection;
    return main.empty && main.head === position(view) && leave(id, by);
  };
  return Prec.high(
    keymap.of([
      { key: 'ArrowUp', run: at(() => 0, -1) },
      { key: 'ArrowDown', run: at(({ state }) => state.doc.length, 1) },
    ]),
  );
}

type TextProps = Pick<MessageBlockProps, 'id' | 'role' | 'index' | 'text' | 'mistakes' | 'unfilled' | 'actions'>;

function BlockEditor({ id, role, index, text, mistakes, unfilled, actions }: TextProps) {
  const onReady = useCallback((focus: FocusAt) => actions.register(id, focus), [actions, id]);
  const extensions = useMemo(() => leavingKeys(id, actions.leave), [actions, id]);
  return (
    <TemplateEditor
      className="message__text"
      label={messageName(index, role)}
      hint={role === 'assistant' ? 'What the assistant answers' : 'Text of the message'}
      value={text}
      onValueChange={(next, details) => actions.edit(id, next, details)}
      names={() => actions.names(id)}
      mistakes={mistakes}
      unfilled={unfilled}
      onReady={onReady}
      hasLineNumbers={false}
      extensions={extensions}
      sharedHistory={actions}
    />
  );
}

/** The first words of a folded message. */
function Preview({ text }: { text: string }) {
  return <span className="message__preview caption tertiary truncate">{text.slice(0, 200).trim() || 'Empty'}</span>;
}

function Grip({ id, name, actions }: { id: number; name: string; actions: BlockActions }) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    event.preventDefault();
    const grip = event.currentTarget as HTMLElement;
    actions.move(id, event.key === 'ArrowUp' ? -1 : 1);
    // The next arrow key moves the same message further.
    requestAnimationFrame(() => grip.focus());
  };
  const onDragStart = ({ dataTransfer }: DragEvent): void => {
    dataTransfer.effectAllowed = 'move';
    // Plain text would be dropped into an editor.
    dataTransfer.setData('application/x-touchstone-message', String(id));
    actions.startDrag(id);
  };
  return (
    <button
      type="button"
      className="message__grip"
      draggable
      aria-label={`Move ${name}`}
      aria-description="Arrow up and arrow down move it"
      title="Drag to move, or use the arrow keys"
      onKeyDown={onKeyDown}
      onDragStart={onDragStart}
      onDragEnd={actions.endDrag}
    >
      <Icon icon={GripVertical} size="small" />
    </button>
  );
}

function Head({ id, index, count, role, text, isExample, isFolded, actions }: MessageBlockProps) {
  const name = messageName(index, role);
  const roles = promptRoles.map((each) => ({
    label: roleTitles[each],
    isChecked: each === role,
    onSelect: () => actions.changeRole(id, each),
  }));
  const moves = [
    { label: 'Move up', icon: ArrowUp, isDisabled: index === 0, onSelect: () => actions.move(id, -1) },
    { label: 'Move down', icon: ArrowDown, isDisabled: index === count - 1, onSelect: () => actions.move(id, 1) },
  ];
  const remove = [{ label: 'Remove', icon: X, isNegative: true, onSelect: () => actions.remove(id) }];
  return (
    <div className="message__head">
      <Grip id={id} name={name} actions={actions} />
      <button
        type="button"
        className="message__fold"
        aria-expanded={!isFolded}
        aria-label={`Text of ${name}`}
        onClick={() => actions.toggle(id)}
      >
        <Icon icon={isFolded ? ChevronRight : ChevronDown} size="small" />
      </button>
      <Menu groups={[roles, moves, remove]}>
        <Button size="small" variant="quiet" className="message__role" aria-label={`${name}: role and actions`}>
          {roleTitles[role]}
          <Icon icon={ChevronDown} size="tiny" />
        </Button>
      </Menu>
      {isExample && <Badge>Example</Badge>}
      {isFolded && <Preview text={text} />}
      <span className="grow" />
      <span className="caption tertiary nowrap numbers">about {formatPlural(estimateTokens(text), 'token')}</span>
      <IconButton icon={X} size="small" label={`Remove ${name}`} onClick={() => actions.remove(id)} />
    </div>
  );
}

/** A message out of view: as high as it will be, without the parts that take time to make. */
function Outline({ role, text, isFolded }: Pick<MessageBlockProps, 'role' | 'text' | 'isFolded'>) {
  return (
    <>
      <div className="message__head">
        <span className="message__title small">{roleTitles[role]}</span>
      </div>
      {!isFolded && <pre className="message__body message__plain mono">{text}</pre>}
    </>
  );
}

/** One message of the prompt: its role, its actions and its text. */
export const MessageBlock = memo(function MessageBlock(props: MessageBlockProps) {
  const { element, isShown } = useWasInView<HTMLDivElement>({ isEager: props.isEager, marginPixels: 400 });
  return (
    <div ref={element}>
      {isShown ? <Head {...props} /> : <Outline {...props} />}
      {isShown && !props.isFolded && (
        <div className="message__body">
          <BlockEditor {...props} />
        </div>
      )}
    </div>
  );
});
