import { type BatchText, maxBatchTexts, type TextLabels } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';
import papaparse from 'papaparse';

/** Common spellings without spaces, dashes and underscores: words, the letters of OpenAI's evaluation set, and those of this screen. */
const spellings: Record<Category, readonly string[]> = {
  sexual: ['sexual', 'sex', 'sexualcontent', 's', 'sx'],
  hatred: ['hatred', 'hate', 'hateful', 'hatespeech', 'hateanddiscrimination', 'h', 'ht'],
  harassment: ['harassment', 'harass', 'harassing', 'hr'],
  selfHarm: ['selfharm', 'sh'],
  violence: ['violence', 'violent', 'violenceandthreats', 'v', 'vi'],
};

/** Sub-categories of the evaluation set. */
const parts: Readonly<Record<string, Category>> = { s3: 'sexual', h2: 'hatred', v2: 'violence' };

const yes = new Set(['1', '1.0', 'true', 't', 'yes', 'y']);
const no = new Set(['0', '0.0', 'false', 'f', 'no', 'n']);
const unknown = new Set(['', 'null', 'none', 'nan', 'n/a', 'na', 'unknown']);
const noCategory = new Set(['', 'none', 'benign', 'safe', 'ok', 'clean', 'neutral', 'normal', 'harmless']);
const listColumns = new Set(['label', 'labels', 'category', 'categories']);

const categoryBySpelling = new Map(categories.flatMap((each) => spellings[each].map((name) => [name, each] as const)));

interface LabelName {
  readonly category: Category;
  /** Whether it is a sub-category. A text that isn't in the sub-category may still be in the category. */
  readonly isPart: boolean;
}

/** The category of a column or a listed name: `self-harm`, `label_hate`, `V2`, `violence/graphic`. */
function labelName(name: string): LabelName | null {
  const [whole = '', ...rest] = name.trim().toLowerCase().split('/');
  const compact = whole.replace(/[\s_-]/g, '');
  const part = parts[compact];
  if (part) return { category: part, isPart: true };
  const bare = compact.replace(/^(?:label|is|has)/, '').replace(/labels?$/, '');
  const category = categoryBySpelling.get(compact) ?? categoryBySpelling.get(bare);
  return category ? { category, isPart: rest.length > 0 } : null;
}

const isListColumn = (name: string): boolean => listColumns.has(name.trim().toLowerCase());

const longestShownValue = 40;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  if (text.length <= longestShownValue + 2) return text;
  const start = (typeof value === 'string' ? value : text).slice(0, longestShownValue);
  return `"${start.replace(/[\uD800-\uDBFF]$/, '')}…"`;
}

function flagOf(value: unknown, location: string): boolean | null {
  const text = value === null || value === undefined ? '' : String(value).trim().toLowerCase();
  if (yes.has(text)) return true;
  if (no.has(text)) return false;
  if (unknown.has(text)) return null;
  throw new Error(`${location}: ${shown(value)} is not a label. Use 1, 0, true, false, yes, no, or leave it empty.`);
}

function listedNames(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return [value];
  const plain = value.trim();
  const inside = plain.startsWith('[') && plain.endsWith(']') ? plain.slice(1, -1) : plain;
  return inside.split(/[,;|]/).map((name) => name.trim().replace(/^["']|["']$/g, ''));
}

/** The categories of a cell such as `violence;SH` or `none`. */
function listedCategories(value: unknown, location: string): Category[] {
  const names = listedNames(value);
  if (names.length === 1 && noCategory.has(String(names[0]).trim().toLowerCase())) return [];
  return names.map((name) => {
    const label = typeof name === 'string' ? labelName(name) : null;
    if (label) return label.category;
    throw new Error(
      `${location}: ${shown(name)} is not a category. Use sexual, hatred, harassment, self-harm, violence or none. Rename the column if it has no labels.`,
    );
  });
}

interface LabelCell {
  readonly column: string;
  readonly value: unknown;
}

interface Said {
  readonly column: string;
  readonly isPositive: boolean;
}

/**
 * The labels in the cells of one text. A category in several columns counts only if they agree. A listed category is true, and the
 * others are false unless they have a column. `name` is the position of a cell, for an error.
 */
function readLabels(cells: readonly LabelCell[], where: string, name: (column: string) => string): TextLabels | null {
  const said = new Map<Category, Said>();
  const addLabel = (category: Category, column: string, isPositive: boolean) => {
    const before = said.get(category);
    if (before && before.isPositive !== isPositive) {
      throw new Error(`${where}: the columns "${before.column}" and "${column}" contradict each other.`);
    }
    said.set(category, before ?? { column, isPositive });
  };
  let hasList = false;
  for (const { column, value } of cells) {
    if (isListColumn(column)) {
      if (value === null || value === undefined) continue;
      hasList = true;
      for (const category of listedCategories(value, name(column))) addLabel(category, column, true);
      continue;
    }
    const label = labelName(column);
    if (!label) continue;
    const isPositive = flagOf(value, name(column));
    if (isPositive === null || (label.isPart && !isPositive)) continue;
    addLabel(label.category, column, isPositive);
  }
  if (said.size === 0 && !hasList) return null;
  const missing = hasList ? false : null;
  return Object.fromEntries(categories.map((each) => [each, said.get(each)?.isPositive ?? missing])) as TextLabels;
}

/** A request to the host is at most 4 MB, including the JSON around the texts. */
const maxBytes = 3_800_000;

/** Column names for the text; the first existing one counts. */
const textColumns = ['text', 'prompt', 'input', 'content', 'message', 'sentence', 'comment', 'body'];
const numberColumns = new Set(['', 'id', 'index', '#']);

const isTextColumn = (name: string) => textColumns.includes(name.trim().toLowerCase());
const isLabelColumn = (name: string) => isListColumn(name) || labelName(name) !== null;

function withLabels(text: string, ...read: Parameters<typeof readLabels>): BatchText {
  const labels = readLabels(...read);
  return { text, ...(labels && { labels }) };
}

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Labels next to the text, or in an object inside, as in `"labels": {"violence": 1}`. */
function labelCells(values: Values): LabelCell[] {
  return Object.entries(values).flatMap(([column, value]): LabelCell[] => {
    if (!isLabelColumn(column)) return [];
    if (!isListColumn(column) || !isObject(value)) return [{ column, value }];
    return Object.entries(value).map(([inner, each]) => ({ column: inner, value: each }));
  });
}

function jsonText(line: string, where: string): BatchText {
  let values: unknown;
  try {
    values = JSON.parse(line);
  } catch {
    throw new Error(`${where} is not valid JSON.`);
  }
  if (typeof values === 'string') return { text: values };
  if (!isObject(values)) throw new Error(`${where} must be a text or an object.`);
  const names = Object.keys(values).filter((name) => typeof values[name] === 'string');
  const key = textColumns.map((name) => names.find((each) => each.toLowerCase() === name)).find((each) => each);
  if (key === undefined) throw new Error(`${where} has no text. Put it in a field "text" or "prompt".`);
  const nested = Object.keys(values).find((column) => isListColumn(column) && isObject(values[column]));
  const nameOf = (column: string) => `${where}, "${column in values ? column : `${nested}.${column}`}"`;
  return withLabels(values[key] as string, labelCells(values), where, nameOf);
}

function readJsonLines(content: string): BatchText[] {
  return content
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [jsonText(line, `Line ${index + 1}`)]));
}

interface Row {
  readonly number: number;
  readonly cells: readonly string[];
}

/** Rows of a CSV with their numbers, without blank ones. The first line determines the separator. */
function csvRows(content: string): Row[] {
  const [line = ''] = content.split('\n', 1);
  const delimiter = [',', ';', '\t'].find((each) => line.split(each).some(isTextColumn)) ?? ',';
  const { data, errors } = papaparse.parse<string[]>(content, { delimiter });
  const [error] = errors;
  if (error) {
    const row = `Row ${(error.row ?? 0) + 1}`;
    if (error.code === 'MissingQuotes') throw new Error(`${row} has an unclosed quote.`);
    throw new Error(`${row} has text after a closing quote. Write quotes inside a quoted cell twice.`);
  }
  const rows = data.map((cells, index) => ({ number: index + 1, cells }));
  return rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
}

/** An extra cell means an unquoted comma in a text: the rest of the text would be lost. */
function requireWidth(rows: readonly Row[], width: number, first: string): void {
  for (const { number, cells } of rows) {
    if (cells.slice(width).every((cell) => cell.trim() === '')) continue;
    const count = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
    throw new Error(`Row ${number} has ${count}, but ${first} has ${width}. Put texts with commas in quotes.`);
  }
}

/** Converts each row to a text with its categories. */
function areTextsWithCategories(rows: readonly Row[]): boolean {
  return rows.every(({ number, cells }) => {
    if (cells.length !== 2 || cells[1]!.trim() === '') return false;
    try {
      return listedCategories(cells[1], String(number)).length >= 0;
    } catch {
      return false;
    }
  });
}

function textColumnOf(names: readonly string[]): number {
  for (const name of textColumns) {
    const index = names.findIndex((each) => each.toLowerCase() === name);
    if (index >= 0) return index;
  }
  const others = names.flatMap((name, index) =>
    isLabelColumn(name) || numberColumns.has(name.toLowerCase()) ? [] : [index],
  );
  if (others.length !== 1) throw new Error('No text column found. Name it "text" or "prompt" in the first row.');
  return others[0]!;
}

function readCsv(content: string): BatchText[] {
  const [head, ...rows] = csvRows(content);
  if (!head) return [];
  const names = head.cells.map((name) => name.trim());
  const hasHeader = names.some(isTextColumn) || (names.length > 1 && names.some(isLabelColumn));
  if (!names.some(isTextColumn) && areTextsWithCategories([head, ...rows])) {
    return [head, ...rows].map(({ number, cells }) => {
      const where = `Row ${number}`;
      return withLabels(cells[0]!, [{ column: 'labels', value: cells[1] }], where, () => where);
    });
  }
  requireWidth(rows, names.length, hasHeader ? 'the header' : 'row 1');
  if (!hasHeader) return [head, ...rows].map(({ cells }) => ({ text: cells[0]! }));
  const textAt = textColumnOf(names);
  // An empty column of categories labels no text.
  const labelled = names.flatMap((column, at) => {
    if (at === textAt || !isLabelColumn(column)) return [];
    return isListColumn(column) && rows.every(({ cells }) => !cells[at]?.trim()) ? [] : [{ column, at }];
  });
  return rows.map(({ number, cells }) => {
    const where = `Row ${number}`;
    const values = labelled.map(({ column, at }) => ({ column, value: cells[at] ?? '' }));
    return withLabels(cells[textAt] ?? '', values, where, (column) => `${where}, column "${column}"`);
  });
}

/** Every line that is not empty is a text. */
function readLines(content: string): BatchText[] {
  return content.split(/\r?\n/).map((text) => ({ text }));
}

function checked(texts: readonly BatchText[]): BatchText[] {
  const nonEmpty = texts.filter(({ text }) => text.trim() !== '');
  if (nonEmpty.length === 0) throw new Error('The file has no text.');
  if (nonEmpty.length > maxBatchTexts) {
    const limit = maxBatchTexts.toLocaleString('en');
    throw new Error(`The file has ${nonEmpty.length.toLocaleString('en')} texts. Load up to ${limit} at a time.`);
  }
  if (new TextEncoder().encode(JSON.stringify(nonEmpty)).byteLength > maxBytes) {
    throw new Error('The file is larger than 3.8 MB. Load it in parts.');
  }
  return nonEmpty;
}

/** Parses the texts of a file by its extension. Throws `Error` with a message for the screen. */
export function readTexts(fileName: string, content: string): BatchText[] {
  const plain = content.replace(/^\uFEFF/, '');
  if (/\.(jsonl|ndjson)$/i.test(fileName)) return checked(readJsonLines(plain));
  return checked(/\.csv$/i.test(fileName) ? readCsv(plain) : readLines(plain));
}
