import type { TextLabels } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';

/** Usual spellings without spaces, dashes and underscores: words, the letters of OpenAI's evaluation set, and those of this screen. */
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

export interface LabelName {
  readonly category: Category;
  /** A sub-category: what is not of it may still be of its category. */
  readonly isPart: boolean;
}

/** The category that a column or a listed name stands for: `self-harm`, `label_hate`, `V2`, `violence/graphic`. */
export function labelName(name: string): LabelName | null {
  const [whole = '', ...rest] = name.trim().toLowerCase().split('/');
  const compact = whole.replace(/[\s_-]/g, '');
  const part = parts[compact];
  if (part) return { category: part, isPart: true };
  const bare = compact.replace(/^(?:label|is|has)/, '').replace(/labels?$/, '');
  const category = categoryBySpelling.get(compact) ?? categoryBySpelling.get(bare);
  return category ? { category, isPart: rest.length > 0 } : null;
}

export const isListColumn = (name: string): boolean => listColumns.has(name.trim().toLowerCase());

const longestShownValue = 40;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  if (text.length <= longestShownValue + 2) return text;
  const start = (typeof value === 'string' ? value : text).slice(0, longestShownValue);
  return `"${start.replace(/[\uD800-\uDBFF]$/, '')}…"`;
}

function flagOf(value: unknown, place: string): boolean | null {
  const text = value === null || value === undefined ? '' : String(value).trim().toLowerCase();
  if (yes.has(text)) return true;
  if (no.has(text)) return false;
  if (unknown.has(text)) return null;
  throw new Error(`${place}: ${shown(value)} is not a label. Use 1, 0, true, false, yes, no, or leave it empty.`);
}

function listedNames(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return [value];
  const plain = value.trim();
  const inside = plain.startsWith('[') && plain.endsWith(']') ? plain.slice(1, -1) : plain;
  return inside.split(/[,;|]/).map((name) => name.trim().replace(/^["']|["']$/g, ''));
}

/** The categories of a cell such as `violence;SH` or `none`. */
export function listedCategories(value: unknown, place: string): Category[] {
  const names = listedNames(value);
  if (names.length === 1 && noCategory.has(String(names[0]).trim().toLowerCase())) return [];
  return names.map((name) => {
    const found = typeof name === 'string' ? labelName(name) : null;
    if (found) return found.category;
    throw new Error(
      `${place}: ${shown(name)} is not a category. Use sexual, hatred, harassment, self-harm, violence or none. Rename the column if it has no labels.`,
    );
  });
}

export interface LabelCell {
  readonly column: string;
  readonly value: unknown;
}

interface Said {
  readonly column: string;
  readonly isPositive: boolean;
}

/**
 * What the cells of one text say. A category that several columns name is true or false only where they agree; a listed category is
 * true, the others are false unless a column of their own says more. `name` says where a cell is, for an error.
 */
export function readLabels(
  cells: readonly LabelCell[],
  where: string,
  name: (column: string) => string,
): TextLabels | null {
  const said = new Map<Category, Said>();
  const say = (category: Category, column: string, isPositive: boolean) => {
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
      for (const category of listedCategories(value, name(column))) say(category, column, true);
      continue;
    }
    const label = labelName(column);
    if (!label) continue;
    const isPositive = flagOf(value, name(column));
    if (isPositive === null || (label.isPart && !isPositive)) continue;
    say(label.category, column, isPositive);
  }
  if (said.size === 0 && !hasList) return null;
  const missing = hasList ? false : null;
  return Object.fromEntries(categories.map((each) => [each, said.get(each)?.isPositive ?? missing])) as TextLabels;
}
