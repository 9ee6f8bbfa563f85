import { ChevronDown, ChevronRight, CircleX } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { classNames } from '../class-names.ts';
import { formatPlural } from '../format.ts';
import { Icon } from '../icon.tsx';
import {
  type JsonFault,
  type JsonNode,
  JsonOutline,
  keyOf,
  nodeAt,
  readString,
  type VisibleRows,
  visibleRows,
} from './json-outline.ts';
import { LongRows } from './long-rows.tsx';
import './json-tree.css';

/** A violation at a JSON pointer, as the end of a sentence. */
export interface TreeError {
  readonly path: string;
  readonly message: string;
}

/** The values of a growing JSON text; its `fault` says why there is no tree. */
export function useJsonOutline(text: string, isGrowing: boolean): JsonOutline {
  const [outline, setOutline] = useState(() => new JsonOutline());
  // If the text grew, parsing continues where it stopped. Any other text is parsed from the start.
  const isContinued = outline.text === text || (!outline.isEnded && text.startsWith(outline.text));
  const current = isContinued ? outline : new JsonOutline();
  if (current !== outline) setOutline(current);
  if (current.text !== text || !isGrowing) current.read(text, !isGrowing);
  return current;
}

/** Why a text is no tree, with the position. `subject` is what the text is. */
export function faultText(subject: string, text: string, { reason, offset }: JsonFault): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return `Shown as text: ${subject} ${reason} (line ${line.toLocaleString('en')}, column ${column.toLocaleString('en')})`;
}

const defaultMaxPlainRows = 300;
const maxShownCharacters = 2000;
const maxIndentLevels = 40;

type Closed = ReadonlySet<number>;

function containerText({ kind, count }: JsonNode): ReactNode {
  if (kind === 'list') {
    return (
      <>
        <span className="tok-punc">[</span>
        <span className="tok-num">{count.toLocaleString('en')}</span>
        <span className="tok-punc">]</span>
      </>
    );
  }
  return (
    <>
      <span className="tok-punc">{'{'}</span>
      <span className="json-tree__note">{formatPlural(count, 'property', 'properties')}</span>
    </>
  );
}

function valueText({ text }: JsonOutline, { kind, start, end }: JsonNode): ReactNode {
  const isLong = (end ?? text.length) - start > maxShownCharacters;
  const shownEnd = isLong ? null : end;
  const raw = isLong ? text.slice(0, start + maxShownCharacters) : text;
  if (kind === 'text') {
    return (
      <span className="tok-str">
        {`"${readString(raw, start, shownEnd)}`}
        {isLong ? '…' : end === null ? '' : '"'}
      </span>
    );
  }
  const written = raw.slice(start, shownEnd ?? undefined);
  return <span className={kind === 'number' ? 'tok-num' : 'tok-key'}>{written + (isLong ? '…' : '')}</span>;
}

interface RowProps {
  outline: JsonOutline;
  node: JsonNode;
  id: string;
  isClosed: boolean;
  isActive: boolean;
  errors: readonly TreeError[];
  onToggle: () => void;
}

function Row({ outline, node, id, isClosed, isActive, errors, onToggle }: RowProps) {
  const isContainer = node.kind === 'object' || node.kind === 'list';
  const key = keyOf(outline, node);
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={node.depth + 1}
      aria-selected={isActive}
      aria-expanded={isContainer && node.count > 0 ? !isClosed : undefined}
      aria-invalid={errors.length > 0 || undefined}
      className={classNames('json-tree__row', isActive && 'is-active', errors.length > 0 && 'is-invalid')}
      style={{ paddingLeft: Math.min(node.depth, maxIndentLevels) * 18 }}
    >
      <span className="json-tree__toggle" onClick={isContainer ? onToggle : undefined} aria-hidden="true">
        {isContainer && node.count > 0 && <Icon icon={isClosed ? ChevronRight : ChevronDown} size="small" />}
      </span>
      {key !== null && <span className="json-tree__key tok-var">{key}</span>}
      <span className="json-tree__value">{isContainer ? containerText(node) : valueText(outline, node)}</span>
      {errors.map(({ path, message }) => (
        <span key={path + message} className="json-tree__error">
          <Icon icon={CircleX} size="small" />
          <span>
            <span className="mono--small">{path === '' ? '/' : path}</span> {message}
          </span>
        </span>
      ))}
    </div>
  );
}

const noErrors: readonly TreeError[] = [];

/** The errors by node. An error without a node belongs to the innermost value that contains it. */
function errorsByNode(outline: JsonOutline, errors: readonly TreeError[]): ReadonlyMap<number, readonly TreeError[]> {
  return Map.groupBy(errors, ({ path }) => nodeAt(outline, path));
}

/** The effect of a key on the active row: another active row, or whether the active row is collapsed. */
function pressedKey(key: string, outline: JsonOutline, visible: VisibleRows, active: number, closed: Closed) {
  const row = visible.rowOf(active);
  const next = row + 1 < visible.count ? visible.nodeAt(row + 1) : active;
  const node = outline.nodes[active];
  const isContainer = node !== undefined && node.count > 0;
  if (key === 'ArrowDown') return { active: next };
  if (key === 'ArrowUp') return { active: row > 0 ? visible.nodeAt(row - 1) : active };
  if (key === 'Home') return { active: 0 };
  if (key === 'End') return { active: visible.count > 0 ? visible.nodeAt(visible.count - 1) : 0 };
  if (key === 'Enter' || key === ' ') return isContainer ? { toggle: active } : {};
  if (key === 'ArrowRight') return isContainer && closed.has(active) ? { toggle: active } : { active: next };
  if (key === 'ArrowLeft')
    return isContainer && !closed.has(active) ? { toggle: active } : { active: Math.max(0, node?.parent ?? 0) };
  return null;
}

export interface JsonTreeProps {
  label: string;
  outline: JsonOutline;
  /** The element that scrolls the tree. */
  scroller: RefObject<HTMLElement | null>;
  errors?: readonly TreeError[] | undefined;
  /** Up to this many rows, long values wrap. Beyond it, only the rows in view are drawn, with each value on one line. */
  maxPlainRows?: number;
}

/** Which nodes are collapsed, which row is active, and what a key does to both. */
function useTreeState(outline: JsonOutline) {
  const [closed, setClosed] = useState<Closed>(new Set());
  const [active, setActive] = useState(0);
  /** Counts key presses: a key scrolls the active row into view even if it was active before. */
  const [presses, setPresses] = useState(0);
  const { length } = outline.nodes;
  const visible = useMemo(() => visibleRows(outline.nodes, length, closed), [outline, length, closed]);
  const toggle = (index: number): void => {
    setActive(index);
    setClosed((before) => {
      const after = new Set(before);
      if (!after.delete(index)) after.add(index);
      return after;
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const effect = pressedKey(event.key, outline, visible, active, closed);
    if (!effect) return;
    event.preventDefault();
    setPresses((before) => before + 1);
    if (effect.toggle !== undefined) toggle(effect.toggle);
    if (effect.active !== undefined) setActive(effect.active);
  };
  return { closed, active, presses, visible, toggle, onKeyDown };
}

/** A JSON text as a tree: one value per line, with its errors below. Of a long tree, only the rows in view are drawn. */
export function JsonTree(props: JsonTreeProps) {
  const { label, outline, scroller, errors = noErrors, maxPlainRows = defaultMaxPlainRows } = props;
  const treeId = useId();
  const tree = useRef<HTMLDivElement>(null);
  const { closed, active, presses, visible, toggle, onKeyDown } = useTreeState(outline);
  const found = useMemo(() => errorsByNode(outline, errors), [outline, errors]);
  const isLong = visible.count > maxPlainRows;
  useEffect(() => {
    // A long tree scrolls to rows that are not drawn.
    if (presses > 0 && !isLong) document.getElementById(`${treeId}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [treeId, active, presses, isLong]);
  const row = (index: number): ReactNode => (
    <Row
      key={index}
      outline={outline}
      node={outline.nodes[index]!}
      id={`${treeId}-${index}`}
      isClosed={closed.has(index)}
      isActive={index === active}
      errors={found.get(index) ?? noErrors}
      onToggle={() => toggle(index)}
    />
  );
  return (
    <div
      ref={tree}
      className={classNames('json-tree', isLong && 'is-long')}
      role="tree"
      aria-label={label}
      aria-activedescendant={`${treeId}-${active}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {isLong ? (
        <LongRows {...{ tree, scroller, visible, active, presses, row }} errors={found} />
      ) : (
        Array.from({ length: visible.count }, (_, position) => row(visible.nodeAt(position)))
      )}
    </div>
  );
}
