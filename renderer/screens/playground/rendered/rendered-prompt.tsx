import { EditorState, StateEffect, StateField, type Extension } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import { useEffect, useMemo } from 'react';
import { useEditor } from '../../../components/editor/code-editor.tsx';
import { describeFile } from '../../../components/files/file-summary.tsx';
import { estimateTokens, formatPlural, formatWhole } from '../../../components/format.ts';
import { hasSeveralRoles, roleTitles, type SentMessage } from '../../../components/sent-messages.ts';
import type { CacheBreak } from './cache-break.ts';

/** A label in the text, on a separate line. */
interface Label {
  offset: number;
  kind: 'role' | 'file' | 'cache-break';
  title: string;
  detail: string;
}

class LabelWidget extends WidgetType {
  readonly label: Label;

  constructor(label: Label) {
    super();
    this.label = label;
  }

  override eq({ label }: LabelWidget): boolean {
    return label.kind === this.label.kind && label.title === this.label.title && label.detail === this.label.detail;
  }

  override get estimatedHeight(): number {
    return 28;
  }

  override toDOM(): HTMLElement {
    // A block inside of a line has to be a span to be valid.
    const element = document.createElement(this.label.kind === 'role' ? 'div' : 'span');
    element.className = `sent-label sent-label--${this.label.kind}`;
    const title = document.createElement('span');
    title.textContent = this.label.title;
    const detail = document.createElement('span');
    detail.className = 'sent-label__detail';
    detail.textContent = this.label.detail;
    element.append(title, detail);
    return element;
  }
}

const setLabels = StateEffect.define<readonly Label[]>();

const labels = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, transaction) => {
    let next = shown.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setLabels)) continue;
      const { length } = transaction.newDoc;
      next = Decoration.set(
        effect.value
          .filter(({ offset }) => offset <= length)
          .map((label) =>
            Decoration.widget({
              widget: new LabelWidget(label),
              side: -1,
              block: label.kind === 'role',
            }).range(label.offset),
          ),
        true,
      );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const readOnly: Extension = [EditorState.readOnly.of(true), labels];

function readLabels(messages: readonly SentMessage[], cacheBreak: CacheBreak | null): Label[] {
  const result: Label[] = [];
  const hasRoles = hasSeveralRoles(messages);
  let start = 0;
  for (const [index, { role, text, files = [] }] of messages.entries()) {
    const detail = `about ${formatPlural(estimateTokens(text), 'token')}`;
    if (hasRoles) result.push({ offset: start, kind: 'role', title: roleTitles[role], detail });
    for (const { offset, file } of files)
      result.push({
        offset: start + offset,
        kind: 'file',
        title: file.name,
        detail: file.mediaType === '' ? '' : describeFile(file),
      });
    if (cacheBreak?.message === index) {
      result.push({
        offset: start + cacheBreak.offset,
        kind: 'cache-break',
        title: 'The cache breaks here',
        detail: `same as the last run before it, about ${formatWhole(cacheBreak.sharedTokens)} tokens`,
      });
    }
    start += text.length + 1;
  }
  return result;
}

interface RenderedPromptProps {
  messages: readonly SentMessage[];
  cacheBreak: CacheBreak | null;
}

/** The messages as a run sends them. An editor that can't be changed draws only what is in view: a prompt may be megabytes long. */
export function RenderedPrompt({ messages, cacheBreak }: RenderedPromptProps) {
  const value = useMemo(() => messages.map(({ text }) => text).join('\n'), [messages]);
  const { parent, view } = useEditor({ label: 'Rendered prompt', value, onValueChange: () => {} }, () => readOnly);
  useEffect(() => {
    view.current?.dispatch({ effects: setLabels.of(readLabels(messages, cacheBreak)) });
  }, [messages, cacheBreak, value, view]);
  return <div ref={parent} className="editor editor--plain rendered__text" />;
}
