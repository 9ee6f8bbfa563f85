import papaparse from 'papaparse';
import { aiSystem } from '../../../../shared/contract/common.ts';
import { maxTransferredPrompts } from '../../../../shared/contract/prompt-transfer.ts';
import { baseName, type Draft, emptyDraft, note, type Reader } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import { readDotpromptModel } from '../model-names.ts';

const fields = ['name', 'prompt', 'system', 'folder', 'tags', 'description', 'model', 'provider', 'note'] as const;
type Field = (typeof fields)[number];

/** Names of columns without case, spaces and hyphens, the most likely first. */
const columnNames: Readonly<Record<Field, readonly string[]>> = {
  name: ['name', 'title', 'promptname', 'label', 'id'],
  prompt: [
    'prompt',
    'prompttext',
    'template',
    'prompttemplate',
    'text',
    'content',
    'user',
    'usermessage',
    'userprompt',
  ],
  system: ['system', 'systemmessage', 'systemprompt', 'instructions'],
  folder: ['folder', 'path', 'category'],
  tags: ['tags', 'tag', 'keywords'],
  description: ['description', 'summary'],
  model: ['model', 'modelname'],
  provider: ['provider', 'aisystem'],
  note: ['note', 'notes', 'comment', 'commitmessage'],
};

const numbers = ['temperature', 'top_p', 'top_k', 'max_tokens', 'seed', 'frequency_penalty', 'presence_penalty'];
const plainName = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, '');
const parameterColumns = new Map([...numbers, 'reasoning_effort'].map((name) => [plainName(name), name]));

interface Columns {
  readonly of: ReadonlyMap<Field, number>;
  /** Our parameters by their columns. */
  readonly parameters: ReadonlyMap<string, number>;
  readonly unknown: readonly string[];
  readonly count: number;
}

function columnsOf(header: readonly string[]): Columns {
  const names = header.map(plainName);
  const of = new Map<Field, number>();
  for (const field of fields) {
    const column = columnNames[field].map((name) => names.indexOf(name)).find((index) => index >= 0);
    if (column !== undefined) of.set(field, column);
  }
  const taken = new Set(of.values());
  const parameters = new Map<string, number>();
  names.forEach((name, index) => {
    const parameter = parameterColumns.get(name);
    if (parameter !== undefined) parameters.set(parameter, index);
  });
  const known = new Set([...taken, ...parameters.values()]);
  const unknown = header.filter((name, index) => name.trim() !== '' && !known.has(index));
  return { of, parameters, unknown, count: header.length };
}

interface Row {
  readonly cells: readonly string[];
  /** Its first line, from 1. */
  readonly line: number;
  readonly problem: string | null;
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  let [end, line, counted] = [0, 1, 0];
  papaparse.parse<string[]>(text, {
    skipEmptyLines: 'greedy',
    step({ data, errors, meta }) {
      // Empty lines before it belong to no row.
      let start = end;
      while (start < text.length && /\s/.test(text[start]!)) start += 1;
      for (; counted < start; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
      end = meta.cursor;
      const isUnbalanced = errors.some(({ type }) => type === 'Quotes');
      rows.push({ cells: data, line, problem: isUnbalanced ? 'A quotation mark is missing or not doubled' : null });
    },
  });
  return rows;
}

function takeModel(draft: Draft, model: string, provider: string): void {
  if (model === '') return;
  const read = readDotpromptModel(model);
  const named = aiSystem.options.find((system) => plainName(system) === plainName(provider));
  draft.model = { aiSystem: named ?? read.aiSystem, model: read.model };
}

function draftOf({ cells, line, problem }: Row, columns: Columns, name: string): Draft {
  const cell = (field: Field) => (cells[columns.of.get(field) ?? -1] ?? '').trim();
  const draft = emptyDraft(cell('name') || name);
  const text = cells[columns.of.get('prompt')!] ?? '';
  if (problem !== null) draft.rejection = { message: problem, line };
  else if (cells.length > columns.count) {
    const message = `The row has ${cells.length} cells and the header ${columns.count}; put text with separators in quotes`;
    draft.rejection = { message, line };
  } else if (text.trim() === '') draft.rejection = { message: 'The row has no prompt', line };
  if (cell('system') !== '') draft.messages.push({ role: 'system', text: cell('system'), line });
  draft.messages.push({ role: 'user', text, line });
  draft.folder = cell('folder') || null;
  draft.tags = cell('tags')
    .split(/[,;|]/)
    .map((tag) => tag.trim());
  draft.description = cell('description') || null;
  draft.note = cell('note') || null;
  takeModel(draft, cell('model'), cell('provider'));
  for (const [parameter, column] of columns.parameters) {
    const value = (cells[column] ?? '').trim();
    if (value !== '') draft.parameters.set(parameter, numbers.includes(parameter) ? Number(value) : value);
  }
  return draft;
}

/** A table with one prompt per row, under the names of its columns. */
export const readCsv: Reader = (text, { name }) => {
  const [header, ...rows] = rowsOf(text);
  const columns = columnsOf(header?.cells ?? []);
  if (!columns.of.has('prompt'))
    throw new TransferError('No prompt column found; name a column "prompt", "promptText" or "template"', 1);
  if (rows.length === 0) throw new TransferError('The table has no rows');
  if (rows.length > maxTransferredPrompts)
    throw new TransferError(`The table has more than ${maxTransferredPrompts} rows; split it`);
  const drafts = rows.map((row, index) => draftOf(row, columns, `${baseName(name)} ${index + 1}`));
  for (const column of columns.unknown)
    note(drafts[0]!, 'refused', column.slice(0, 100), 'Unknown column; skipped in every row', header?.line ?? null);
  return drafts;
};
