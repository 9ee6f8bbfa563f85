import { Children, type ComponentProps, isValidElement, memo, useMemo, useState } from 'react';
import { CopyButton } from '../button.tsx';
import { CitationNumber } from './citation-button.tsx';
import { definitionsOf, hasReference, type MarkdownBlock, readBlocks } from './markdown-blocks.ts';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import './markdown.css';

/** The properties of a Markdown tree that this file needs. */
interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

const prefix = '#citation-';
/** `[1]`, and `[1, 3]` as some models write it. */
const pattern = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;

/** The number in a link that `remarkCitations` made; null for every other link. */
function citationNumber(href: string | undefined): number | null {
  return href?.startsWith(prefix) ? Number(href.slice(prefix.length)) : null;
}

function link(number: string): Node {
  return { type: 'link', url: `${prefix}${number}`, children: [{ type: 'text', value: `[${number}]` }] };
}

function splitCitations(value: string): Node[] {
  const nodes: Node[] = [];
  let end = 0;
  for (const match of value.matchAll(pattern)) {
    if (match.index > end) nodes.push({ type: 'text', value: value.slice(end, match.index) });
    nodes.push(...match[1]!.split(/\s*,\s*/).map(link));
    end = match.index + match[0].length;
  }
  if (end < value.length) nodes.push({ type: 'text', value: value.slice(end) });
  return nodes;
}

function linkCitations(node: Node): void {
  if (!node.children || node.type === 'link' || node.type === 'linkReference') return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value?.includes('[')) return splitCitations(child.value);
    linkCitations(child);
    return [child];
  });
}

/** Turns the citations `[1]` of an answer into links, so that they can be clicked. Code is unchanged. */
function remarkCitations(): (tree: Node) => void {
  return linkCitations;
}

const linesInChunk = 100;

/** The text in chunks of a hundred lines, so that a growing text changes its last chunk only. */
function chunksOf(text: string): string[] {
  const chunks: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start;
    for (let line = 0; line < linesInChunk && end < text.length; line += 1) {
      const next = text.indexOf('\n', end);
      end = next < 0 ? text.length : next + 1;
    }
    chunks.push(text.slice(start, end));
    start = end;
  }
  return chunks;
}

/** A block of code with its language and a button that copies it. */
function CodeBlock({ text, language }: { text: string; language: string }) {
  return (
    <figure className="code-block">
      <figcaption>
        <span className="caption tertiary truncate">{language || 'text'}</span>
        <CopyButton text={text} label="Copy code" isIconOnly size="small" />
      </figcaption>
      <pre tabIndex={0} aria-label={language ? `Code, ${language}` : 'Code'}>
        <code>
          {chunksOf(text).map((chunk, index) => (
            <span key={index}>{chunk}</span>
          ))}
        </code>
      </pre>
    </figure>
  );
}

function textOf(children: unknown): string {
  if (typeof children === 'string') return children;
  return Array.isArray(children) ? children.map(textOf).join('') : '';
}

/** Code inside lists and quotations. Code at the top level is rendered without the Markdown parser. */
function InnerCode({ children }: ComponentProps<'pre'>) {
  const code = children as { props?: { className?: string; children?: unknown } } | undefined;
  const language = /language-(\S+)/.exec(code?.props?.className ?? '')?.[1] ?? '';
  return <CodeBlock text={textOf(code?.props?.children).replace(/\n$/, '')} language={language} />;
}

/** A link that a model writes may lead anywhere: it opens outside the window and reveals nothing about this page. */
function OuterLink({ href, children }: ComponentProps<'a'>) {
  const citation = citationNumber(href);
  if (citation !== null) return <CitationNumber number={citation} />;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}

/** An image would send a request to an address that a model chose. Its text and address are shown instead. */
function NamedImage({ alt, src }: ComponentProps<'img'>) {
  return (
    <span className="tertiary">
      {alt || 'Image'}
      {typeof src === 'string' && src !== '' && <> ({src})</>}
    </span>
  );
}

function ScrollingTable({ children, dir }: ComponentProps<'table'>) {
  return (
    <div className="markdown__table scroll" tabIndex={0} role="group" aria-label="Table" dir={dir}>
      <table>{children}</table>
    </div>
  );
}

/** Numbers of three digits and more need space that most lists would waste. */
function NumberedList({ start = 1, children, dir }: ComponentProps<'ol'>) {
  const last = start + Children.toArray(children).filter(isValidElement).length - 1;
  return (
    <ol start={start} dir={dir} className={last > 999 ? 'numbers-4' : last > 99 ? 'numbers-3' : undefined}>
      {children}
    </ol>
  );
}

/** The answer is below the heading `Answer`, so its own headings keep their size and move two levels down. */
function heading(size: 1 | 2 | 3 | 4) {
  const Tag = (['h3', 'h4', 'h5', 'h6'] as const)[size - 1] ?? 'h6';
  return function Heading({ children, dir }: ComponentProps<'h3'>) {
    return (
      <Tag className={`heading-${size}`} dir={dir}>
        {children}
      </Tag>
    );
  };
}

const components = {
  pre: InnerCode,
  a: OuterLink,
  img: NamedImage,
  table: ScrollingTable,
  ol: NumberedList,
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(4),
  h6: heading(4),
};
const plugins = [remarkGfm, remarkCitations];

/** Each block takes its direction from its own first letter: models mix Arabic and English in one text. */
function rehypeDirection() {
  return ({ children }: { children: { properties?: Record<string, unknown> }[] }): void => {
    for (const { properties } of children) if (properties) properties['dir'] = 'auto';
  };
}
const htmlPlugins = [rehypeDirection];

/** One block. It renders again only when its own text or a definition that it refers to changes. */
const Block = memo(function Block({
  raw,
  code,
  isList,
  definitions,
}: Omit<MarkdownBlock, 'start'> & { definitions: string }) {
  if (code) return <CodeBlock text={code.text} language={code.language} />;
  const drawn = (
    <Markdown remarkPlugins={plugins} rehypePlugins={htmlPlugins} components={components}>
      {definitions === '' ? raw : `${raw}\n\n${definitions}`}
    </Markdown>
  );
  return isList ? <div className="list-part">{drawn}</div> : drawn;
});

/** A growing answer as Markdown. Only the open block renders again. No raw HTML. */
export function MarkdownView({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const [{ blocks, readText }, setRead] = useState(() => ({ blocks: readBlocks(text), readText: text }));
  // During the render, so that no text appears with the blocks of the previous text.
  if (readText !== text) setRead({ blocks: readBlocks(text, blocks), readText: text });
  // Definitions come at the end of a text, so the search for them can wait until the text is complete.
  const definitions = useMemo(() => (isGrowing ? '' : definitionsOf(blocks.text)), [blocks, isGrowing]);
  const all = blocks.open ? [...blocks.closed, blocks.open] : blocks.closed;
  return (
    <div className={isGrowing ? 'markdown is-growing' : 'markdown'}>
      {all.map(({ start, raw, code, isList }) => (
        <Block
          key={start}
          raw={raw}
          code={code}
          isList={isList}
          definitions={definitions !== '' && hasReference(raw) ? definitions : ''}
        />
      ))}
    </div>
  );
}
