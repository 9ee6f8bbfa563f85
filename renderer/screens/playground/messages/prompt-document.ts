import { history, invertedEffects, isolateHistory, redo, undo } from '@codemirror/commands';
import { EditorState, StateEffect, StateField, Transaction } from '@codemirror/state';
import type { EditDetails } from '../../../components/editor/code-editor.tsx';
import { editorText, textChange } from '../../../components/editor/text-change.ts';
import { layOutMessages, type PromptRole, splitMessages } from '../../../../shared/prompt-messages.ts';

/** A message of the template. */
export interface PromptBlock {
  /** Stays the same while the message is edited. */
  readonly id: number;
  readonly role: PromptRole;
  /** What precedes the text in the template: the role tag. */
  readonly opening: string;
  readonly text: string;
  /** Offset of the text in the template. */
  readonly start: number;
}

/** A block to write. A new one has no id and no opening. */
export type EditedBlock = Pick<PromptBlock, 'role' | 'text'> & Partial<Pick<PromptBlock, 'id' | 'opening'>>;

/** A selection in offsets of the template. */
export type Selection = Pick<EditDetails, 'anchor' | 'head'>;

/** A block without its text, which the template holds. */
type StoredBlock = Pick<PromptBlock, 'id' | 'role' | 'opening'> & { readonly length: number };
/** Null after a change of the whole text: the blocks have to be read from it. */
type Layout = readonly StoredBlock[] | null;

const setLayout = StateEffect.define<Layout>();

const layoutField = StateField.define<Layout>({
  create: () => null,
  update: (layout, { effects }) => {
    for (const effect of effects) if (effect.is(setLayout)) layout = effect.value;
    return layout;
  },
});

/** Undo restores the blocks, too. The text alone doesn't tell them while a tag in it is half typed. */
const layoutHistory = invertedEffects.of(({ effects, startState }) =>
  effects.some((effect) => effect.is(setLayout)) ? [setLayout.of(startState.field(layoutField))] : [],
);

function endOf({ start, text }: PromptBlock): number {
  return start + text.length;
}

interface Change {
  /** The messages of the text where they are known; otherwise they are read from it. */
  written?: readonly PromptBlock[];
  /** Absent for a text from elsewhere. */
  details?: EditDetails;
  /** Whether the cursor has to move to the selection of `details`. */
  isFocused?: boolean;
}

const roleTag = /\{\{~?[{&]?\s*role\s/;

/**
 * A template while a person edits it, as one text or as messages, with one history for both. The text is the only content: blocks are
 * a way to read it.
 */
export class PromptDocument {
  #state: EditorState;
  #text: string;
  #blocks: readonly PromptBlock[] | null | undefined;
  #focus: Selection | null = null;
  #nextId = 0;
  readonly #listeners = new Set<() => void>();

  constructor(text: string) {
    this.#text = editorText(text);
    this.#state = EditorState.create({
      doc: this.#text,
      extensions: [history({ minDepth: 500 }), layoutField, layoutHistory],
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** The state as a value that changes with every edit. */
  readonly snapshot = (): EditorState => this.#state;

  get text(): string {
    return this.#text;
  }

  /** Null when a role is set inside of a block such as `{{#each}}`. */
  get blocks(): readonly PromptBlock[] | null {
    if (this.#blocks === undefined) {
      const layout = this.#state.field(layoutField);
      this.#blocks = layout ? this.#positionBlocks(layout) : this.#read(this.#text);
    }
    return this.#blocks;
  }

  /** Where the cursor belongs after the last change; null if its editor has set it, or once it was taken. */
  takeFocus(): Selection | null {
    const focus = this.#focus;
    this.#focus = null;
    return focus;
  }

  /** An edit of the whole text. `isFocused` moves the cursor of another form to it. */
  editText(text: string, details: EditDetails, { isFocused = false } = {}): void {
    this.#change(editorText(text), { details, isFocused });
  }

  /** Replaces the text with one from elsewhere, such as a restored run. It can be undone. */
  replaceText(text: string): void {
    const next = editorText(text);
    if (next === this.#text) return;
    this.#change(next, {});
  }

  /** An edit of the text of one message. */
  editBlock(id: number, text: string, { anchor, head, userEvent }: EditDetails): void {
    const { blocks } = this;
    const index = blocks?.findIndex((block) => block.id === id) ?? -1;
    if (!blocks || index === -1) return;
    const written = this.#layOut(blocks.map((block) => (block.id === id ? { ...block, text } : block)));
    const start = written[index]!.start;
    const details = { anchor: start + anchor, head: start + head, userEvent };
    const next = written.map(({ opening, text: body }) => opening + body).join('');
    // Typing or pasting a role tag makes messages of one.
    const split = roleTag.test(text) ? splitMessages(next) : null;
    if (split && split.length > written.length) this.#change(next, { details, isFocused: true });
    else this.#change(next, { written, details });
  }

  /** Adds, removes, moves or changes messages. The cursor goes to the end of the message at `focusIndex`. */
  setBlocks(edited: readonly EditedBlock[], focusIndex: number): void {
    const written = this.#layOut(edited);
    const focused = written[focusIndex];
    const end = focused ? endOf(focused) : 0;
    const text = written.map(({ opening, text: body }) => opening + body).join('');
    this.#change(text, { written, details: { anchor: end, head: end, userEvent: 'message' }, isFocused: true });
  }

  undo(): void {
    this.#step(undo);
  }

  redo(): void {
    this.#step(redo);
  }

  #step(command: typeof undo): void {
    command({
      state: this.#state,
      dispatch: (transaction) => {
        const { anchor, head } = transaction.state.selection.main;
        this.#focus = { anchor, head };
        this.#set(transaction.state, transaction.state.doc.toString());
      },
    });
  }

  #change(text: string, { written, details, isFocused = false }: Change): void {
    const changes = textChange(this.#text, text);
    const layout = written?.map(({ id, role, opening, text: body }) => ({ id, role, opening, length: body.length }));
    const { anchor, head } = details ?? this.#state.selection.main;
    const userEvent = details?.userEvent;
    const selection = { anchor: Math.min(anchor, text.length), head: Math.min(head, text.length) };
    if (isFocused) this.#focus = selection;
    const isTyping = details !== undefined && !isFocused;
    const transaction = this.#state.update({
      ...(changes && { changes }),
      selection,
      effects: setLayout.of(layout ?? null),
      annotations: [
        ...(userEvent === undefined ? [] : [Transaction.userEvent.of(userEvent)]),
        ...(isTyping ? [] : [isolateHistory.of('full')]),
      ],
    });
    this.#set(transaction.state, text, written);
  }

  #set(state: EditorState, text: string, written?: readonly PromptBlock[]): void {
    const before = this.#blocks;
    this.#state = state;
    this.#text = text;
    this.#blocks = written;
    // Blocks of as many messages as before are the same ones: their editors stay.
    if (before && state.field(layoutField) === null && this.blocks?.length === before.length) {
      this.#blocks = this.blocks.map((block, index) => ({ ...block, id: before[index]!.id }));
    }
    for (const listener of this.#listeners) listener();
  }

  #layOut(edited: readonly EditedBlock[]): PromptBlock[] {
    let end = 0;
    return layOutMessages(edited).map(({ role, opening, text }, index) => {
      const start = end + opening.length;
      end = start + text.length;
      return { id: edited[index]!.id ?? this.#nextId++, role, opening, text, start };
    });
  }

  #positionBlocks(layout: readonly StoredBlock[]): PromptBlock[] {
    let end = 0;
    return layout.map(({ id, role, opening, length }) => {
      const start = end + opening.length;
      end = start + length;
      return { id, role, opening, text: this.#text.slice(start, end), start };
    });
  }

  #read(text: string): PromptBlock[] | null {
    const split = splitMessages(text);
    return (
      split?.map(({ role, opening, text: body, start }) => ({
        id: this.#nextId++,
        role,
        opening,
        text: body,
        start: start + opening.length,
      })) ?? null
    );
  }
}
