import { type ComponentType, useEffect, useState } from 'react';
import './markdown.css';

interface MarkdownProps {
  text: string;
  isGrowing: boolean;
}

function PlainText({ text }: MarkdownProps) {
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
export function LazyMarkdown(props: MarkdownProps) {
  const [, setLoaded] = useState(Loaded !== null);
  useEffect(() => {
    if (Loaded !== null) return;
    let isShown = true;
    void load().then(() => isShown && setLoaded(Loaded !== null));
    return () => {
      isShown = false;
    };
  }, []);
  return Loaded === null ? <PlainText {...props} /> : <Loaded {...props} />;
}
