import { memo, useMemo } from 'react';
import './long-text.css';

/** The layout of a longer block would hold the window. */
const maxBlockCharacters = 4000;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Parts of a text, each of whole lines. Only a line that is longer than a block is cut. */
export function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let start = 0;
  while (text.length - start > maxBlockCharacters) {
    const limit = start + maxBlockCharacters;
    // Within the block only: a text without line ends would be searched back to its start each time.
    const lineEnd = text.slice(start, limit).lastIndexOf('\n');
    const cut = isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
    const end = lineEnd >= 0 ? start + lineEnd : cut;
    blocks.push(text.slice(start, end));
    start = lineEnd >= 0 ? end + 1 : end;
  }
  blocks.push(text.slice(start));
  return blocks;
}

const Block = memo(function Block({ text }: { text: string }) {
  return <div className="long-text__block">{text === '' ? '\n' : text}</div>;
});

/** A text of any length, as it is. The browser lays out the blocks in view only. */
export function LongText({ text, className }: { text: string; className: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <pre className={className}>
      {blocks.length === 1
        ? text
        : // oxlint-disable-next-line react/no-array-index-key -- Blocks have no identity but their position.
          blocks.map((block, index) => <Block key={index} text={block} />)}
    </pre>
  );
}
