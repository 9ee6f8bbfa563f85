import { type ComponentType, memo, useEffect, useState } from 'react';
import type { MarkdownProps } from './markdown-view.tsx';
import './markdown.css';

function PlainText({ text }: Pick<MarkdownProps, 'text'>) {
  return (
    <div className="markdown">
      <p dir="auto">{text}</p>
    </div>
  );
}

let Loaded: ComponentType<MarkdownProps> | null = null;
let loading: Promise<void> | null = null;

/** Resolves also if the host is gone and gives no more files. Then the next call tries again. */
function load(): Promise<void> {
  loading ??= import('./markdown-view.tsx').then(
    ({ MarkdownView }) => void (Loaded = MarkdownView),
    () => void (loading = null),
  );
  return loading;
}

/** Loads the Markdown parser before the first answer needs it. */
export function prefetchMarkdown(): void {
  void load();
}

/**
 * `MarkdownView`, whose parser loads with the first answer. Until it is there, the text is shown as it came; React's `lazy` would show that for
 * 300 ms even if the parser is there.
 */
export const LazyMarkdown = memo(function LazyMarkdown(props: MarkdownProps) {
  const [, setLoaded] = useState(Loaded !== null);
  useEffect(() => {
    if (Loaded !== null) return;
    let isShown = true;
    void load().then(() => isShown && setLoaded(Loaded !== null));
    return () => {
      isShown = false;
    };
  }, []);
  return Loaded === null ? <PlainText text={props.text} /> : <Loaded {...props} />;
});

/** Characters of a text that a browser removes at once within a frame. */
const maxRemoved = 12_000;

interface Identified {
  id: string;
  text: string;
  isGrowing: boolean;
}

interface Removed extends Identified {
  /** The same function as long as the text is there: another one would put off its next part, with every token of the new text. */
  onRemoved: () => void;
}

/** `LazyMarkdown` where one text takes the place of another; `id` says which it is. A long one goes in parts, and isn't seen meanwhile. */
export function ReplaceableMarkdown({ id, text, isGrowing }: Identified) {
  const [{ last, removed }, setTexts] = useState({ last: { id, text, isGrowing }, removed: [] as readonly Removed[] });

  function remove(before: Identified): Removed {
    const removal = {
      ...before,
      onRemoved: () => setTexts((texts) => ({ ...texts, removed: texts.removed.filter((other) => other !== removal) })),
    };
    return removal;
  }

  // During the render: afterwards the text before would be gone already.
  if (last.id !== id || last.text !== text || last.isGrowing !== isGrowing) {
    const isLeft = last.id !== id && last.text.length > maxRemoved && Loaded !== null;
    const others = removed.filter((other) => other.id !== id);
    setTexts({ last: { id, text, isGrowing }, removed: isLeft ? [...others, remove(last)] : others });
  }
  return [
    ...removed.map(({ id: key, ...other }) => <LazyMarkdown key={key} {...other} />),
    text !== '' && <LazyMarkdown key={id} text={text} isGrowing={isGrowing} />,
  ];
}
