import { diffLines, diffWordsWithSpace } from 'diff';

export interface DiffPart {
  text: string;
  /** Whether the other side lacks it. */
  isOwn: boolean;
}

export interface DiffLine {
  /** From 1, in its own text. */
  number: number;
  parts: readonly DiffPart[];
}

/** One line of each text next to each other; null if a side has none. */
export interface DiffRow {
  before: DiffLine | null;
  after: DiffLine | null;
  isSame: boolean;
}

/** Visible rows, or a folded range of equal rows. */
export type DiffBlock = { kind: 'rows'; rows: readonly DiffRow[] } | { kind: 'fold'; rows: readonly DiffRow[] };

/** After this many milliseconds two texts are treated as entirely different: a person is waiting. */
export const lineTimeout = 120;
/** Words are compared only in lines short enough to read word by word, and only in this many of them. */
const longestLine = 2_000;
const maxWordDiffs = 400;

/** A missing line break at the end of the text doesn't make its last line different. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function wholeLine(text: string, number: number, isOwn: boolean): DiffLine {
  return { number, parts: [{ text, isOwn }] };
}

function wordParts(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } {
  const parts = diffWordsWithSpace(before, after);
  const side = (isOther: (part: { added: boolean; removed: boolean }) => boolean): DiffPart[] =>
    parts
      .filter((part) => !isOther(part))
      .map(({ value, added, removed }) => ({ text: value, isOwn: added || removed }));
  return { before: side(({ added }) => added), after: side(({ removed }) => removed) };
}

/** Compares two texts by line, and changed lines by word. Replaced lines are next to their replacements. */
export function diffRows(before: string, after: string, timeout = lineTimeout): DiffRow[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  const changes = diffLines(ended(old), ended(fresh), { timeout }) ?? [
    { removed: true, added: false, count: old.length },
    { removed: false, added: true, count: fresh.length },
  ];
  const rows: DiffRow[] = [];
  let [oldAt, freshAt, wordDiffs] = [0, 0, 0];
  const wordDiffLimit = (maxWordDiffs * timeout) / lineTimeout;

  const pushPair = (hasOld: boolean, hasFresh: boolean): void => {
    const [oldText, freshText] = [old[oldAt] ?? '', fresh[freshAt] ?? ''];
    const isWordwise =
      hasOld && hasFresh && wordDiffs < wordDiffLimit && oldText.length + freshText.length <= longestLine;
    const words = isWordwise ? wordParts(oldText, freshText) : null;
    if (words) wordDiffs += 1;
    const own = (text: string, number: number, parts: DiffPart[] | undefined): DiffLine =>
      parts ? { number, parts } : wholeLine(text, number, true);
    rows.push({
      before: hasOld ? own(oldText, oldAt + 1, words?.before) : null,
      after: hasFresh ? own(freshText, freshAt + 1, words?.after) : null,
      isSame: false,
    });
    if (hasOld) oldAt += 1;
    if (hasFresh) freshAt += 1;
  };

  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index]!;
    if (!change.added && !change.removed) {
      for (let count = 0; count < change.count && oldAt < old.length; count += 1) {
        const text = old[oldAt] ?? '';
        const row = { before: wholeLine(text, oldAt + 1, false), after: wholeLine(text, freshAt + 1, false) };
        rows.push({ ...row, isSame: true });
        oldAt += 1;
        freshAt += 1;
      }
      continue;
    }
    const next = changes[index + 1];
    const isReplaced = change.removed && next?.added === true;
    const removed = Math.min(change.removed ? change.count : 0, old.length - oldAt);
    const added = Math.min(change.added ? change.count : isReplaced ? next.count : 0, fresh.length - freshAt);
    for (let line = 0; line < Math.max(removed, added); line += 1) pushPair(line < removed, line < added);
    if (isReplaced) index += 1;
  }
  return rows;
}

/** Folds equal lines that are further from a change than `context`. A fold of fewer than four lines would save nothing. */
export function foldRows(rows: readonly DiffRow[], context = 3): DiffBlock[] {
  const isNear = new Uint8Array(rows.length);
  rows.forEach(({ isSame }, index) => {
    if (!isSame) isNear.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const blocks: DiffBlock[] = [];
  let start = 0;
  for (let index = 1; index <= rows.length; index += 1) {
    if (index < rows.length && isNear[index] === isNear[start]) continue;
    const part = rows.slice(start, index);
    const kind = isNear[start] === 1 || part.length < 4 ? 'rows' : 'fold';
    const last = blocks.at(-1);
    if (kind === 'rows' && last?.kind === 'rows') blocks[blocks.length - 1] = { kind, rows: [...last.rows, ...part] };
    else if (part.length > 0) blocks.push({ kind, rows: part });
    start = index;
  }
  return blocks;
}

const rowsOf = (block: DiffBlock): number => (block.kind === 'rows' ? block.rows.length : 1);

/** The number of table rows of the blocks; a fold is one row. */
export function countRows(blocks: readonly DiffBlock[]): number {
  return blocks.reduce((count, block) => count + rowsOf(block), 0);
}

/** The blocks with the first `maxRows` rows, and every fold. */
export function limitRows(blocks: readonly DiffBlock[], maxRows: number): DiffBlock[] {
  let count = 0;
  return blocks.map((block) => {
    const remaining = Math.max(0, maxRows - count);
    count += rowsOf(block);
    return block.kind === 'rows' ? { ...block, rows: block.rows.slice(0, remaining) } : block;
  });
}
