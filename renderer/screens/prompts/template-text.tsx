import { useMemo } from 'react';
import { scanTags } from '../../../shared/prompt-template-tags.ts';

/** A template to be read, its tags in the colour of the editor. */
export function TemplateText({ text }: { text: string }) {
  const parts = useMemo(() => {
    const found: { start: number; text: string; isTag: boolean }[] = [];
    let at = 0;
    for (const { start, end } of scanTags(text)) {
      if (start > at) found.push({ start: at, text: text.slice(at, start), isTag: false });
      found.push({ start, text: text.slice(start, end), isTag: true });
      at = end;
    }
    if (at < text.length) found.push({ start: at, text: text.slice(at), isTag: false });
    return found;
  }, [text]);
  return (
    <pre className="mono prompt-text">
      {parts.map((part) =>
        part.isTag ? (
          <span key={part.start} className="prompt-text__tag">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </pre>
  );
}
