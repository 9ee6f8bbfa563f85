import { diffLines, diffWordsWithSpace } from 'diff';

export interface DiffPart {
  text: string;
  /** Whether the other side lacks it. */
  isOwn: boolean;
  /** Whether it stands for a part of a long line that isn't shown. */
  isOmission?: boolean;
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

/** A folded range of equal rows. */
export interface DiffFold {
  kind: 'fold';
  count: number;
  rows: (from: number, to: number) => readonly DiffRow[];
}

export type DiffBlock = { kind: 'rows'; rows: readonly DiffRow[] } | DiffFold;

export interface TextDifference {
  blocks: readonly DiffBlock[];
  changed: number;
  /** False if only the first characters after the first difference are compared. */
  isWhole: boolean;
}

/** After this many milliseconds two texts are treated as entirely different: a person is waiting. */
export const lineTimeout = 120;
/** Words are compared only in lines short enough to read word by word, and only in this many of them. */
const longestLine = 2_000;
const maxWordDiffs = 400;
/** Words that differ between two lines, before and after together. The time to find them grows with their square. */
const maxWordEdits = 200;
/** Shown of a longer line, before its difference and of the difference. The layout of a whole one would hold the window. */
const shownAround = 200;
const shownDifference = 1_000;
/** Rows next to a change that are not folded. */
const contextRows = 3;
/** Texts of more characters are compared from their first difference on. */
export const comparedCharacters = 50_000;

/** A missing line break at the end of the text doesn't make its last line different. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function omission(characters: number): DiffPart {
  return { text: ` … ${characters.toLocaleString('en')} characters … `, isOwn: false, isOmission: true };
}

/** Whether a cut here would leave half of a character on each side. */
function isInsideCharacter(text: string, at: number): boolean {
  return at > 0 && at < text.length && text.codePointAt(at - 1)! > 0xffff;
}

/** The beginning of a part, or its end, with a note of what is left out. */
function shortened(text: string, isOwn: boolean, shown: number, side: 'start' | 'end' = 'start'): DiffPart[] {
  if (text.length <= shown) return text === '' ? [] : [{ text, isOwn }];
  const at = side === 'start' ? shown : text.length - shown;
  const cut = !isInsideCharacter(text, at) ? at : side === 'start' ? at - 1 : at + 1;
  const [start, end] = [text.slice(0, cut), text.slice(cut)];
  return side === 'start'
    ? [{ text: start, isOwn }, omission(end.length)]
    : [omission(start.length), { text: end, isOwn }];
}

function wholeLine(text: string, number: number, isOwn: boolean): DiffLine {
  return { number, parts: text === '' ? [{ text, isOwn }] : shortened(text, isOwn, longestLine) };
}

/** Lengths of what two texts begin and end with. */
function commonEnds(before: string, after: string): { head: number; tail: number } {
  const max = Math.min(before.length, after.length);
  let head = 0;
  while (head < max && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  let tail = 0;
  while (tail < max - head && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail))
    tail += 1;
  // Different characters can begin or end with the same half.
  if (isInsideCharacter(before, head) || isInsideCharacter(after, head)) head -= 1;
  if (isInsideCharacter(before, before.length - tail) || isInsideCharacter(after, after.length - tail)) tail -= 1;
  return { head, tail };
}

/** Lines that are too long to be compared word by word: what lies between their equal ends differs. */
function endParts(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } {
  const { head, tail } = commonEnds(before, after);
  const parts = (text: string): DiffPart[] => [
    ...shortened(text.slice(0, head), false, shownAround, 'end'),
    ...shortened(text.slice(head, text.length - tail), true, shownDifference),
    ...shortened(text.slice(text.length - tail), false, shownAround),
  ];
  return { before: parts(before), after: parts(after) };
}

function wordParts(before: string, after: string): { before: DiffPart[]; after: DiffPart[] } {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits });
  if (!parts) return endParts(before, after);
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
    const isLong = oldText.length + freshText.length > longestLine;
    const isPaired = hasOld && hasFresh && wordDiffs < wordDiffLimit;
    const words = isPaired ? (isLong ? endParts : wordParts)(oldText, freshText) : null;
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
export function foldRows(rows: readonly DiffRow[], context = contextRows): DiffBlock[] {
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
    else if (kind === 'rows') blocks.push({ kind, rows: part });
    else blocks.push({ kind, count: part.length, rows: (from, to) => part.slice(from, to) });
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

/** The equal lines of a part that both texts have; `offsets` are the lines before it. */
function foldOf(text: string, offsets: readonly [before: number, after: number]): DiffBlock[] {
  if (text === '') return [];
  const lines = linesOf(text);
  const row = (line: string, index: number): DiffRow => ({
    before: wholeLine(line, offsets[0] + index + 1, false),
    after: wholeLine(line, offsets[1] + index + 1, false),
    isSame: true,
  });
  const rows = (from: number, to: number) => lines.slice(from, to).map((line, index) => row(line, from + index));
  return [{ kind: 'fold', count: lines.length, rows }];
}

function moved(rows: readonly DiffRow[], by: number): DiffRow[] {
  const line = (one: DiffLine | null) => one && { ...one, number: one.number + by };
  return by === 0
    ? [...rows]
    : rows.map(({ before, after, isSame }) => ({ before: line(before), after: line(after), isSame }));
}

/** The first characters in whole lines: at least one line. */
function beginning(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const end = text.lastIndexOf('\n', characters - 1);
  const next = end > 0 ? end : text.indexOf('\n', characters);
  return next < 0 ? text : text.slice(0, next);
}

/** Where the first of `count` lines before a line begins. */
function linesBefore(text: string, start: number, count: number): number {
  let found = start;
  for (let line = 0; line < count && found > 0; line += 1)
    found = found < 2 ? 0 : text.lastIndexOf('\n', found - 2) + 1;
  return found;
}

/** Where the line after `count` more lines begins. */
function linesAfter(text: string, start: number, count: number): number {
  let found = start;
  for (let line = 0; line < count; line += 1) {
    const end = text.indexOf('\n', found);
    if (end < 0) return text.length;
    found = end + 1;
  }
  return found;
}

/** The differences of two texts of any length. What long texts have in common before and after the differences is folded unread. */
export function diffTexts(
  beforeText: string,
  afterText: string,
  { timeout = lineTimeout, characters = comparedCharacters }: { timeout?: number; characters?: number } = {},
): TextDifference {
  const [before, after] = [beforeText.replaceAll(/\r\n?/g, '\n'), afterText.replaceAll(/\r\n?/g, '\n')];
  const isChanged = ({ isSame }: DiffRow) => !isSame;
  if (before.length + after.length <= characters) {
    const rows = diffRows(before, after, timeout);
    return { blocks: foldRows(rows), changed: rows.filter(isChanged).length, isWhole: true };
  }
  const { head, tail } = commonEnds(before, after);
  const start = linesBefore(before, head === 0 ? 0 : before.lastIndexOf('\n', head - 1) + 1, contextRows);
  const end = linesAfter(before, before.length - tail, contextRows + 1);
  const [old, fresh] = [before.slice(start, end), after.slice(start, after.length - (before.length - end))];
  const [oldPart, freshPart] = [beginning(old, characters), beginning(fresh, characters)];
  const isWhole = oldPart === old && freshPart === fresh;
  const above = foldOf(before.slice(0, start), [0, 0]);
  const skipped = above.length === 0 ? 0 : (above[0] as DiffFold).count;
  const rows = moved(diffRows(oldPart, freshPart, timeout), skipped);
  const changed = rows.filter(isChanged).length;
  const last = (side: 'before' | 'after') => rows.findLast((row) => row[side] !== null)?.[side]?.number ?? skipped;
  const below = isWhole ? foldOf(before.slice(end), [last('before'), last('after')]) : [];
  return { blocks: changed === 0 && isWhole ? [] : [...above, ...foldRows(rows), ...below], changed, isWhole };
}
