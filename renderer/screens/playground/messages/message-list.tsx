import { Plus } from 'lucide-react';
import {
  type DragEvent,
  type RefObject,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { useActions } from '../../../stores/actions.ts';
import type { ReadNames, TemplateNames } from '../editor/template-completion.ts';
import type { FocusAt, TemplateMistake } from '../editor/template-editor.tsx';
import { useFocusTargets } from '../session/playground-session.tsx';
import { type BlockActions, MessageBlock } from './message-block.tsx';
import * as edits from './message-edits.ts';
import type { PromptBlock, PromptDocument, Selection } from './prompt-document.ts';
import './messages.css';

/** More editors at once would make the first paint slow. */
const maxEagerEditors = 30;

type Position = TemplateMistake | { start: number; end: number };
const none: readonly never[] = [];

/** The positions that lie in one message, in offsets of its text. */
function positionsIn<P extends Position>({ start, text }: PromptBlock, positions: readonly P[]): readonly P[] {
  const end = start + text.length;
  const inside = positions.filter((position) => start <= position.start && position.start < Math.max(end, start + 1));
  if (inside.length === 0) return none;
  return inside.map((position) => ({
    ...position,
    start: position.start - start,
    end: Math.min(position.end, end) - start,
  }));
}

/** Names with the offsets of their uses counted from the start of a message. */
function namesFrom({ variables, ...names }: TemplateNames, start: number): TemplateNames {
  return {
    ...names,
    variables: variables.map((variable) => ({ ...variable, starts: variable.starts.map((offset) => offset - start) })),
  };
}

/** Editors by the id of their message, and the one that waits for the focus until it is drawn. */
function useBlockEditors(document: PromptDocument, unfold: (id: number) => void) {
  const editors = useRef(new Map<number, FocusAt>());
  const pending = useRef<{ id: number; anchor: number; head: number } | null>(null);
  const [pendingFocusId, setPendingFocusId] = useState<number | null>(null);
  const focusBlock = useCallback(
    (id: number, anchor: number, head = anchor) => {
      const focus = editors.current.get(id);
      if (focus) return focus(anchor, head);
      pending.current = { id, anchor, head };
      unfold(id);
      setPendingFocusId(id);
    },
    [unfold],
  );
  const register = useCallback((id: number, focus: FocusAt) => {
    editors.current.set(id, focus);
    if (pending.current?.id === id) {
      const { anchor, head } = pending.current;
      pending.current = null;
      focus(anchor, head);
    }
    return () => void editors.current.delete(id);
  }, []);
  const focusAt = useCallback(
    ({ anchor, head }: Selection) => {
      const { blocks } = document;
      const block = blocks?.findLast(({ start }) => start <= head) ?? blocks?.[0];
      if (!block) return;
      const inside = (offset: number) => Math.min(Math.max(0, offset - block.start), block.text.length);
      focusBlock(block.id, inside(anchor), inside(head));
    },
    [document, focusBlock],
  );
  return { wantedId: pendingFocusId, register, focusBlock, focusAt };
}

function useFolded() {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const setFold = useCallback((id: number, isFolded: boolean) => {
    setFolded((before) => {
      if (before.has(id) === isFolded) return before;
      const next = new Set(before);
      if (isFolded) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const unfold = useCallback((id: number) => setFold(id, false), [setFold]);
  const toggle = useCallback(
    (id: number) =>
      setFolded((before) => new Set(before.has(id) ? [...before].filter((other) => other !== id) : [...before, id])),
    [],
  );
  return { folded, setFold, unfold, toggle };
}

interface DropPosition {
  id: number;
  isAfter: boolean;
}

/** Dragging a message by its grip. */
function useDrag(document: PromptDocument) {
  const dragged = useRef<number | null>(null);
  const [drop, setDrop] = useState<DropPosition | null>(null);
  const endDrag = useCallback(() => {
    dragged.current = null;
    setDrop(null);
  }, []);
  const startDrag = useCallback((id: number) => void (dragged.current = id), []);
  const onDragOver = (event: DragEvent, id: number): void => {
    if (dragged.current === null) return;
    event.preventDefault();
    const { top, height } = event.currentTarget.getBoundingClientRect();
    const isAfter = event.clientY > top + height / 2;
    setDrop((before) => (before?.id === id && before.isAfter === isAfter ? before : { id, isAfter }));
  };
  const onDrop = (event: DragEvent): void => {
    const id = dragged.current;
    if (id === null || !drop) return;
    event.preventDefault();
    const others = (document.blocks ?? []).filter((block) => block.id !== id);
    const target = others.findIndex((block) => block.id === drop.id);
    if (target !== -1) edits.moveMessage(document, id, target + (drop.isAfter ? 1 : 0));
    endDrag();
  };
  return { drop, startDrag, endDrag, onDragOver, onDrop };
}

export interface MessageListProps {
  document: PromptDocument;
  blocks: readonly PromptBlock[];
  names: ReadNames;
  mistakes: readonly TemplateMistake[];
  /** Positions of names that a run would render empty; null leaves the highlights unchanged. */
  unfilled: readonly { start: number; end: number }[] | null;
}

/** Moves the focus to the position that the document or another part of the screen asks for. */
function useRequestedFocus(document: PromptDocument, focusAt: (selection: Selection) => void): void {
  const focusTargets = useFocusTargets();
  useEffect(() => {
    const remove = focusTargets.add('prompt', (offset) => focusAt({ anchor: offset, head: offset }));
    return () => remove();
  }, [focusAt, focusTargets]);
  useEffect(() => {
    const focus = document.takeFocus();
    if (focus) focusAt(focus);
  });
}

/** The mistakes and unfilled names of each message, by its id. */
function usePositions({ blocks, mistakes, unfilled }: Pick<MessageListProps, 'blocks' | 'mistakes' | 'unfilled'>) {
  // As old as the positions, which are read from the template later than the text changes.
  const readBlocks = useDeferredValue(blocks);
  return useMemo(
    () =>
      new Map(
        readBlocks.map((block) => [
          block.id,
          { mistakes: positionsIn(block, mistakes), unfilled: unfilled && positionsIn(block, unfilled) },
        ]),
      ),
    [readBlocks, mistakes, unfilled],
  );
}

interface BlockActionOptions
  extends
    Pick<MessageListProps, 'document' | 'names'>,
    Pick<BlockActions, 'toggle' | 'register' | 'startDrag' | 'endDrag'> {
  focusBlock: (id: number, offset: number) => void;
}

/** The actions of every message. They stay the same object, so that only the messages that changed are drawn again. */
function useBlockActions(options: BlockActionOptions): BlockActions {
  const { document, names, focusBlock, toggle, register, startDrag, endDrag } = options;
  return useMemo((): BlockActions => {
    const indexOf = (id: number) => document.blocks?.findIndex((block) => block.id === id) ?? -1;
    return {
      undo: () => document.undo(),
      redo: () => document.redo(),
      edit: (id, text, details) => document.editBlock(id, text, details),
      changeRole: (id, role) => edits.changeRole(document, id, role),
      move: (id, by) => edits.moveMessage(document, id, indexOf(id) + by),
      remove: (id) => edits.removeMessage(document, id),
      toggle,
      leave: (id, by) => {
        const next = document.blocks?.[indexOf(id) + by];
        if (!next) return false;
        focusBlock(next.id, by === 1 ? 0 : next.text.length);
        return true;
      },
      names: async (id) => {
        const all = await names();
        return namesFrom(all, document.blocks?.[indexOf(id)]?.start ?? 0);
      },
      register,
      startDrag,
      endDrag,
    };
  }, [document, endDrag, focusBlock, names, register, startDrag, toggle]);
}

/** The messages of a prompt, each with a separate editor. */
export function MessageList({ document, blocks, names, mistakes, unfilled }: MessageListProps) {
  const { folded, setFold, unfold, toggle } = useFolded();
  const { wantedId: pendingFocusId, register, focusBlock, focusAt } = useBlockEditors(document, unfold);
  const { drop, startDrag, endDrag, onDragOver, onDrop } = useDrag(document);
  const lastFocused = useRef<number | null>(null);
  useRequestedFocus(document, focusAt);
  const actions = useBlockActions({ document, names, focusBlock, toggle, register, startDrag, endDrag });
  const add = () => edits.addMessage(document, lastFocused.current);
  useMessageActions({ document, actions, add, lastFocused, setFold, blocks });
  const positions = usePositions({ blocks, mistakes, unfilled });
  return (
    <div className="messages scroll">
      <ol className="messages__list" aria-label="Messages">
        {blocks.map(({ id, role, text }, index) => (
          <li
            key={id}
            className={classNames('message', drop?.id === id && (drop.isAfter ? 'is-drop-after' : 'is-drop-before'))}
            onFocus={() => void (lastFocused.current = id)}
            onDragOver={(event) => onDragOver(event, id)}
            onDrop={onDrop}
          >
            <MessageBlock
              id={id}
              index={index}
              count={blocks.length}
              role={role}
              text={text}
              isExample={edits.isExample(blocks, index)}
              isFolded={folded.has(id)}
              isEager={blocks.length <= maxEagerEditors || pendingFocusId === id}
              mistakes={positions.get(id)?.mistakes ?? none}
              unfilled={positions.get(id)?.unfilled ?? null}
              actions={actions}
            />
          </li>
        ))}
      </ol>
      <div className="row messages__add">
        <Button size="small" variant="quiet" icon={Plus} keys={addKeys} onClick={add}>
          Add message
        </Button>
        <Button size="small" variant="quiet" icon={Plus} onClick={() => edits.addExamplePair(document)}>
          Add example pair
        </Button>
      </div>
    </div>
  );
}

export const addKeys = 'Mod+Shift+Enter';
const group = 'Playground';

interface MessageActionOptions extends Pick<MessageListProps, 'document' | 'blocks'> {
  actions: BlockActions;
  add: () => void;
  /** The message that has the focus, or had it last. */
  lastFocused: RefObject<number | null>;
  setFold: (id: number, isFolded: boolean) => void;
}

/** What can be done with messages, by name and by keys. */
function useMessageActions({ document, blocks, actions, add, lastFocused, setFold }: MessageActionOptions): void {
  const withLast = (run: (id: number) => void) => () => {
    if (lastFocused.current !== null) run(lastFocused.current);
  };
  const foldAll = (isFolded: boolean): void => blocks.forEach(({ id }) => setFold(id, isFolded));
  useActions('playground-messages', [
    { id: 'playground.message.add', title: 'Add message', group, keys: addKeys, run: add },
    {
      id: 'playground.message.pair',
      title: 'Add example pair',
      group,
      keywords: ['few-shot'],
      run: () => edits.addExamplePair(document),
    },
    { id: 'playground.message.up', title: 'Move message up', group, run: withLast((id) => actions.move(id, -1)) },
    { id: 'playground.message.down', title: 'Move message down', group, run: withLast((id) => actions.move(id, 1)) },
    { id: 'playground.message.remove', title: 'Remove message', group, run: withLast(actions.remove) },
    { id: 'playground.message.fold', title: 'Fold all messages', group, run: () => foldAll(true) },
    { id: 'playground.message.unfold', title: 'Unfold all messages', group, run: () => foldAll(false) },
  ]);
}
