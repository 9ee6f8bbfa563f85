import { lazy, Suspense } from 'react';
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

const load = () => import('./markdown-view.tsx');

/** An answer that came is shown even if the host is gone and gives no more files. */
const Loaded = lazy(async () => {
  const loaded = await load().catch(() => null);
  return { default: loaded?.MarkdownView ?? PlainText };
});

/** Loads the Markdown parser before the first answer needs it. */
export function prefetchMarkdown(): void {
  void load().catch(() => undefined);
}

/** `MarkdownView`, whose parser loads with the first answer. Until it is there, the text is shown as it came. */
export function LazyMarkdown(props: MarkdownProps) {
  return (
    <Suspense fallback={<PlainText {...props} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
