import { memo, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Tokens } from 'marked';
import {
  definitionsOf,
  hasReference,
  type MarkdownBlock,
  type MarkdownBlocks,
  noBlocks,
  readBlocks,
} from './markdown-blocks.ts';
import { CodeBlock, drawBlocks, drawInline, TableHead, TableRows } from './markdown-elements.tsx';
import { readInlineTokens, readTokens } from './markdown-lexer.ts';
import './markdown.css';

interface PartProps {
  block: MarkdownBlock;
  /** The link definitions elsewhere in the text, if the block may refer to one. */
  definitions: string;
}

/** Part of a paragraph. It renders again only when its own text or a definition that it refers to changes. */
const ParagraphPart = memo(function ParagraphPart({ block: { raw, part, kind }, definitions }: PartProps) {
  if (kind === 'plain') return <span>{raw}</span>;
  const tokens = part
    ? readInlineTokens(raw, definitions)
    : readTokens(raw, definitions).flatMap((token) => ('tokens' in token ? (token.tokens ?? []) : []));
  return drawInline(tokens);
});

const TablePart = memo(function TablePart({
  block: { raw, part },
  definitions,
  widths,
}: PartProps & { widths: readonly number[] }) {
  const table = readTokens((part?.prefix ?? '') + raw, definitions).find(({ type }) => type === 'table') as
    Tokens.Table | undefined;
  if (!table) return null;
  const isFixed = part !== undefined && widths.length > 0;
  return (
    <table className={isFixed ? 'is-fixed' : undefined}>
      {isFixed && (
        <colgroup>
          {widths.map((width, column) => (
            <col key={column} style={{ width: `${width}px` }} />
          ))}
        </colgroup>
      )}
      {!part && <TableHead header={table.header} />}
      <tbody>
        <TableRows rows={table.rows} />
      </tbody>
    </table>
  );
});

const noWidths: readonly number[] = [];

/** The widths of the columns of a table whose first part is complete: the other parts are tables of their own and follow them. */
function useColumnWidths(table: RefObject<HTMLElement | null>, isDivided: boolean): readonly number[] {
  const [widths, setWidths] = useState(noWidths);
  useLayoutEffect(() => {
    const first = table.current?.querySelector('table');
    if (!isDivided || !first) return;
    const measure = (): void => {
      const cells = [...first.querySelectorAll('th')];
      setWidths(cells.map((cell) => cell.getBoundingClientRect().width));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(first);
    return () => observer.disconnect();
  }, [isDivided, table]);
  return isDivided ? widths : noWidths;
}

interface GroupProps {
  /** One block, or all parts of a long one. */
  parts: readonly MarkdownBlock[];
  definitions: string;
}

function TableGroup({ parts, definitions }: GroupProps) {
  const table = useRef<HTMLDivElement>(null);
  const widths = useColumnWidths(table, parts.length > 1);
  const width = widths.reduce((sum, column) => sum + column, 0);
  return (
    <div ref={table} className="markdown__table scroll" tabIndex={0} role="group" aria-label="Table" dir="auto">
      {parts.map((block, index) => {
        const isClosed = index > 0 && index < parts.length - 1;
        return (
          <div
            key={block.start}
            className={isClosed ? 'table-part is-closed' : 'table-part'}
            style={isClosed ? { width: `${width}px` } : undefined}
          >
            <TablePart block={block} definitions={definitions} widths={widths} />
          </div>
        );
      })}
    </div>
  );
}

/** Lines of an item without the spaces that put them into it. */
function withoutIndent(raw: string, indent: number): string {
  return raw
    .split('\n')
    .map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
    .join('\n');
}

const OtherBlock = memo(function OtherBlock({ block: { raw, kind, part }, definitions }: PartProps) {
  const drawn = drawBlocks(readTokens(part ? withoutIndent(raw, part.indent) : raw, definitions), 'auto');
  if (kind !== 'list') return part ? <div className="is-continued">{drawn}</div> : drawn;
  return <div className={part ? 'list-part is-continued' : 'list-part'}>{drawn}</div>;
});

function isSameGroup(one: GroupProps, other: GroupProps): boolean {
  const isSame = one.parts.length === other.parts.length && one.definitions === other.definitions;
  return isSame && one.parts.every((part, index) => part === other.parts[index]);
}

/** It renders again only when its last part changes. */
const BlockGroup = memo(function BlockGroup({ parts, definitions }: GroupProps) {
  const first = parts[0]!;
  if (first.code) {
    const texts = parts.map(({ code }) => code?.text ?? '');
    return <CodeBlock texts={texts} language={first.code.language} />;
  }
  if (first.kind === 'table') return <TableGroup parts={parts} definitions={definitions} />;
  if (first.kind === 'paragraph' || first.kind === 'plain') {
    return (
      <p dir="auto">
        {parts.map((block) => (
          <ParagraphPart key={block.start} block={block} definitions={definitions} />
        ))}
      </p>
    );
  }
  return parts.map((block) => <OtherBlock key={block.start} block={block} definitions={definitions} />);
}, isSameGroup);

type Group = readonly MarkdownBlock[];

/** The parts of each long block together. */
function groupsOf({ closed, open }: MarkdownBlocks): Group[] {
  const groups: MarkdownBlock[][] = [];
  for (const block of open ? [...closed, open] : closed) {
    if (block.part && groups.length > 0) groups.at(-1)!.push(block);
    else groups.push([block]);
  }
  return groups;
}

const minSectionGroups = 12;
const maxSectionGroups = 60;

/** Whether a section may end between two blocks: their margins must not depend on each other. */
function canEndBetween([before]: Group, [after]: Group): boolean {
  return (before!.kind === 'list') === (after!.kind === 'list') && !after!.raw.startsWith('#');
}

/** Blocks in sections, of which the browser lays out and paints only those in view. A section that is full stays as it is. */
function sectionsOf(groups: readonly Group[]): Group[][] {
  const sections: Group[][] = [];
  for (const group of groups) {
    const section = sections.at(-1);
    const length = section?.length ?? maxSectionGroups;
    const isFull = length >= maxSectionGroups || (length >= minSectionGroups && canEndBetween(section!.at(-1)!, group));
    if (isFull) sections.push([group]);
    else section!.push(group);
  }
  return sections;
}

interface SectionProps {
  groups: readonly Group[];
  definitions: string;
  isClosed: boolean;
}

function isSameSection(one: SectionProps, other: SectionProps): boolean {
  if (one.isClosed !== other.isClosed || one.definitions !== other.definitions) return false;
  // A section that is closed in both states has the same blocks, because the text only grew.
  return one.isClosed && one.groups[0]![0] === other.groups[0]![0] && one.groups.length === other.groups.length;
}

const Section = memo(function Section({ groups, definitions, isClosed }: SectionProps) {
  return (
    <div className={isClosed ? 'markdown__section is-closed' : 'markdown__section'}>
      {groups.map((parts) => {
        const refers = definitions !== '' && parts.some(({ raw }) => hasReference(raw));
        return <BlockGroup key={parts[0]!.start} parts={parts} definitions={refers ? definitions : ''} />;
      })}
    </div>
  );
}, isSameSection);

/** Characters that are drawn or removed in one frame. A stream brings fewer; a text that is there already would block the window. */
const maxCharacters = 12_000;

/** The beginning of the text that is drawn so far. Reaches its end within some frames, unless the text is removed before. */
function useDrawnText(text: string, isRemoved: boolean): string {
  const [length, setLength] = useState(maxCharacters);
  const isWhole = text.length <= length;
  useEffect(() => {
    if (isRemoved || (isWhole && text.length + maxCharacters / 2 <= length)) return;
    const frame = requestAnimationFrame(() => setLength((drawn) => (isWhole ? text.length : drawn) + maxCharacters));
    return () => cancelAnimationFrame(frame);
  }, [isRemoved, isWhole, length, text]);
  return isWhole ? text : text.slice(0, length);
}

/** All blocks, or, of a text that is removed, fewer in each frame. Calls `onRemoved` when none are left. */
function useRemainingBlocks(blocks: MarkdownBlocks, onRemoved: (() => void) | undefined): MarkdownBlocks {
  const [remaining, setRemaining] = useState<MarkdownBlocks | null>(null);
  const left = onRemoved ? (remaining ?? blocks) : blocks;
  useEffect(() => {
    if (!onRemoved) return;
    if (left.closed.length === 0 && !left.open) {
      onRemoved();
      return;
    }
    const frame = requestAnimationFrame(() => {
      let end = left.closed.length;
      for (let characters = left.open?.raw.length ?? 0; end > 0 && characters < maxCharacters; end -= 1)
        characters += left.closed[end - 1]!.raw.length;
      setRemaining({ ...left, closed: left.closed.slice(0, end), open: null });
    });
    return () => cancelAnimationFrame(frame);
  }, [left, onRemoved]);
  return left;
}

export interface MarkdownProps {
  text: string;
  isGrowing: boolean;
  /** If given, the text isn't shown any more: it is removed in parts, because a browser needs a tenth of a second for all of a long one. */
  onRemoved?: () => void;
}

/** A growing answer as Markdown. Only the open block renders again, and little of a long one. No raw HTML. */
export function MarkdownView({ text, isGrowing, onRemoved }: MarkdownProps) {
  const drawn = useDrawnText(text, onRemoved !== undefined);
  const [{ blocks, readText }, setRead] = useState(() => ({ blocks: readBlocks(drawn, noBlocks), readText: drawn }));
  // During the render, so that no text appears with the blocks of the previous text.
  if (readText !== drawn) setRead({ blocks: readBlocks(drawn, blocks), readText: drawn });
  // Definitions come at the end of a text, so the search for them can wait until the text is complete.
  const definitions = useMemo(() => (isGrowing ? '' : definitionsOf(blocks.text)), [blocks, isGrowing]);
  const sections = sectionsOf(groupsOf(useRemainingBlocks(blocks, onRemoved)));
  return (
    <div className={onRemoved ? 'markdown is-removed' : isGrowing ? 'markdown is-growing' : 'markdown'}>
      {sections.map((groups, index) => (
        <Section
          key={groups[0]![0]!.start}
          groups={groups}
          definitions={definitions}
          isClosed={index < sections.length - 1}
        />
      ))}
    </div>
  );
}
