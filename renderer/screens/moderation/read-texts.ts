import { mostBatchTexts, type BatchText, type TextLabels } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category } from '../../../shared/contract/moderation.ts';

/** A request to the host is at most 4 MB; what stands around the texts in it takes some of them. */
const mostBytes = 3_800_000;

/** The names that OpenAI's evaluation set gives the labels. */
const shortLabels: Record<Category, string> = {
  sexual: 'S',
  hatred: 'H',
  harassment: 'HR',
  selfHarm: 'SH',
  violence: 'V',
};

const textKeys = ['text', 'prompt', 'input', 'content', 'message'];

type Values = Record<string, unknown>;

function labelOf(value: unknown): boolean | null {
  if (value === 1 || value === true || value === '1' || value === 'true') return true;
  if (value === 0 || value === false || value === '0' || value === 'false') return false;
  return null;
}

function labelsOf(values: Values): TextLabels | null {
  const nested = (typeof values['labels'] === 'object' ? values['labels'] : null) as Values | null;
  const labels = categories.map((category) => {
    const value = values[shortLabels[category]] ?? values[`label_${category}`] ?? nested?.[category];
    return [category, labelOf(value)] as const;
  });
  return labels.some(([, label]) => label !== null) ? (Object.fromEntries(labels) as TextLabels) : null;
}

function textOf(values: Values, place: string): BatchText {
  const key = textKeys.find((name) => typeof values[name] === 'string');
  if (key === undefined) throw new Error(`${place} has no text: it is looked for under ${textKeys.join(', ')}.`);
  const labels = labelsOf(values);
  return { text: values[key] as string, ...(labels && { labels }) };
}

function readJsonLines(content: string): BatchText[] {
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const place = `Line ${index + 1}`;
    let values: unknown;
    try {
      values = JSON.parse(line);
    } catch {
      throw new Error(`${place} is not JSON.`);
    }
    if (typeof values === 'string') return [{ text: values }];
    if (typeof values !== 'object' || values === null) throw new Error(`${place} is neither a text nor an object.`);
    return [textOf(values as Values, place)];
  });
}

/** Rows of RFC 4180: fields in quotes may hold commas, quotes twice, and ends of lines. */
function csvRows(content: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|((?!")[^,\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < content.length) {
    const match = field.exec(content);
    if (!match) throw new Error(`Row ${rows.length + 1} has a quote that is not closed.`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',' && field.lastIndex < content.length) continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

function readCsv(content: string): BatchText[] {
  const [head = [], ...rows] = csvRows(content);
  const names = head.map((name) => name.trim());
  const hasHead = names.some((name) => textKeys.includes(name.toLowerCase()));
  if (!hasHead) return [head, ...rows].map(([text = '']) => ({ text }));
  const keys = names.map((name) => (textKeys.includes(name.toLowerCase()) ? name.toLowerCase() : name));
  return rows.map((cells, index) =>
    textOf(Object.fromEntries(keys.map((key, at) => [key, cells[at] ?? ''])), `Row ${index + 2}`),
  );
}

/** Every line that is not empty is a text. */
export function readLines(content: string): BatchText[] {
  return content.split(/\r?\n/).map((text) => ({ text }));
}

function checked(texts: readonly BatchText[]): BatchText[] {
  const kept = texts.filter(({ text }) => text.trim() !== '');
  if (kept.length === 0) throw new Error('There is no text in it.');
  if (kept.length > mostBatchTexts) {
    throw new Error(
      `It has ${kept.length.toLocaleString('en')} texts; at most ${mostBatchTexts.toLocaleString('en')} go at once.`,
    );
  }
  if (new TextEncoder().encode(JSON.stringify(kept)).byteLength > mostBytes) {
    throw new Error('It is larger than 3.8 MB. Load it in parts.');
  }
  return kept;
}

/** Texts of a file by the ending of its name. Throws `Error` with words for a person. */
export function readTexts(fileName: string, content: string): BatchText[] {
  const plain = content.replace(/^\uFEFF/, '');
  if (/\.(jsonl|ndjson)$/i.test(fileName)) return checked(readJsonLines(plain));
  return checked(/\.csv$/i.test(fileName) ? readCsv(plain) : readLines(plain));
}
