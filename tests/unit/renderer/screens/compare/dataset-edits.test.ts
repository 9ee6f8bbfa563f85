import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createDataset,
  readDataset,
  type Dataset,
  type DatasetColumn,
} from '../../../../../shared/contract/datasets.ts';
import { editDataset } from '../../../../../shared/contract/dataset-edits.ts';
import {
  clearSelection,
  fillDown,
  findText,
  pasteText,
} from '../../../../../renderer/screens/compare/datasets/grid/clipboard.ts';
import { InvalidCell, writeEditFile } from '../../../../../renderer/screens/compare/datasets/grid/edit-file.ts';
import { EditStorage } from '../../../../../renderer/screens/compare/datasets/grid/edit-storage.ts';
import { createEditor, type Editor } from '../../../../../renderer/screens/compare/datasets/grid/editor.ts';
import {
  changeColumn,
  deleteColumn,
  deleteRows,
  duplicateRows,
  insertColumn,
  insertRow,
  moveColumn,
  moveSelectedRows,
} from '../../../../../renderer/screens/compare/datasets/grid/row-edits.ts';
import {
  readTabSeparated,
  writeTabSeparated,
} from '../../../../../renderer/screens/compare/datasets/grid/tab-separated.ts';
import { retyped, writeRow } from '../../../../../renderer/screens/compare/datasets/grid/table-document.ts';
import { rowFor } from '../../../../../renderer/screens/playground/variables/save-row.tsx';
import { patience } from '../../../../support/patience.ts';
import { startWindowHost, type WindowHost } from '../../../../support/window-host.ts';

describe('cells of a spreadsheet', () => {
  test.each<[string, string[][]]>([
    [
      'a\tb\nc\td',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a\tb\r\nc\td\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      '"two\nlines"\t"a ""quote"""\nx\t',
      [
        ['two\nlines', 'a "quote"'],
        ['x', ''],
      ],
    ],
    ['"so" it says\tend\n"open', [['"so" it says', 'end'], ['"open']]],
    ['\n\nlast', [[''], [''], ['last']]],
    ['', []],
  ])('%j is read', (text, rows) => {
    expect([...readTabSeparated(text)]).toEqual(rows);
  });

  test('a row is written so that it is read again', () => {
    const row = ['plain', 'two\nlines', 'a\tb', 'a "quote"', ''];
    expect([...readTabSeparated(writeTabSeparated(row))]).toEqual([row]);
  });

  test('many quotes that never close are read, which would never end in quadratic time', () => {
    const text = '"a\t'.repeat(200_000);
    expect([...readTabSeparated(text)][0]).toHaveLength(200_001);
  });
});

let window: WindowHost;
let editor: Editor;
const columns: DatasetColumn[] = [
  { name: 'ticket', type: 'text' },
  { name: 'answer', type: 'expected' },
];

async function open(rowCount: number, given = columns): Promise<Dataset> {
  window = await startWindowHost();
  onTestFinished(async () => {
    editor.dispose();
    await window.close();
  });
  const rows = Array.from({ length: rowCount }, (_, index) => ({ ticket: `t${index}`, answer: `a${index}` }));
  const dataset = await window.host.client.call(createDataset, { body: { name: 'Tickets', columns: given, rows } });
  editor = createEditor({ client: window.host.client, dataset, isReadOnly: false, readVersion: async () => null });
  return dataset;
}

async function shown(): Promise<unknown[][]> {
  const all: unknown[][] = [];
  for await (const { values } of editor.eachRow(0, Infinity, new AbortController().signal))
    all.push(values.map((value) => value ?? null));
  return all;
}

const selectCells = (fromRow: number, fromColumn: number, toRow = fromRow, toColumn = fromColumn) =>
  editor.selectRange({ anchor: { row: fromRow, column: fromColumn }, active: { row: toRow, column: toColumn } });

async function store({ id, version }: Dataset): Promise<Dataset> {
  const file = await writeEditFile(editor, { signal: new AbortController().signal, report: () => {} });
  const { client } = window.host;
  await client.upload(editDataset, { parameters: { id }, fields: { baseVersion: `${version}` }, file });
  return client.call(readDataset, { parameters: { id } });
}

async function save(dataset: Dataset): Promise<unknown[][]> {
  const before = await shown();
  editor.rebase(await store(dataset));
  expect(await shown()).toEqual(before);
  return before;
}

test('rows are inserted, moved, duplicated and deleted, undone, and saved as they are shown', async () => {
  const dataset = await open(5);
  selectCells(1, 0);
  insertRow(editor, 'above');
  selectCells(3, 0, 4, 0);
  moveSelectedRows(editor, 1);
  selectCells(0, 0);
  await duplicateRows(editor);
  selectCells(2, 0);
  deleteRows(editor);
  editor.change(writeRow(editor.getState().table, 1, { [editor.getState().table.columns[1]!.key]: { code: 3 } }));
  const rows = await shown();
  expect(rows).toEqual([
    ['t0', 'a0'],
    ['t0', { code: 3 }],
    ['t1', 'a1'],
    ['t4', 'a4'],
    ['t2', 'a2'],
    ['t3', 'a3'],
  ]);
  for (let index = 0; index < 5; index += 1) editor.undo();
  expect(await shown()).toEqual(Array.from({ length: 5 }, (_, index) => [`t${index}`, `a${index}`]));
  expect(editor.getState().table).toBe(editor.getState().original);
  for (let index = 0; index < 5; index += 1) editor.redo();
  expect(await save(dataset)).toEqual(rows);
});

function writeCell(row: number, column: number, value: unknown): void {
  const { table } = editor.getState();
  editor.change(writeRow(table, row, { [table.columns[column]!.key]: value }));
}

test('edits made while a version is saved are edits of that version, with undo', async () => {
  const dataset = await open(12);
  // The version that is saved has a new row, an edited one, a moved one, one less, and a column of another type.
  selectCells(4, 0);
  insertRow(editor, 'above');
  writeCell(4, 0, 'new');
  writeCell(6, 0, 'edited');
  selectCells(9, 0);
  deleteRows(editor);
  selectCells(11, 0);
  moveSelectedRows(editor, -1);
  changeColumn(editor, 1, retyped(editor.getState().table.columns[1]!, 'text'));
  const sent = editor.getState().table;
  const sentRows = await shown();
  let now: unknown[][] = [];
  await editor.work('Saving', async () => {
    const saved = await store(dataset);
    insertRow(editor, 'end');
    writeCell(12, 1, 'added');
    writeCell(4, 1, 'later');
    writeCell(6, 1, 'also later');
    writeCell(0, 0, 'first');
    selectCells(2, 0);
    deleteRows(editor);
    selectCells(9, 0);
    moveSelectedRows(editor, 1);
    const [ticket] = editor.getState().table.columns;
    changeColumn(editor, 0, { ...retyped(ticket!, 'json'), name: 'subject' });
    insertColumn(editor, 1);
    writeCell(3, 1, 'in a new column');
    editor.discard();
    now = await shown();
    editor.rebase(saved, sent);
  });
  const { dataset: saved, original, table, past } = editor.getState();
  expect([saved.version, table === original, past.length]).toEqual([2, false, 10]);
  expect(await shown()).toEqual(now);
  past.forEach(() => editor.undo());
  expect(editor.getState().table).toBe(original);
  expect(await shown()).toEqual(sentRows);
  past.forEach(() => editor.redo());
  expect(await save(saved)).toEqual(now);
});

test('a version that is saved without edits meanwhile has none, and its columns stay', async () => {
  const dataset = await open(2);
  writeCell(0, 0, 'edited');
  const { table: sent } = editor.getState();
  editor.rebase(await store(dataset), sent);
  const { table, original, past } = editor.getState();
  expect([table === original, past]).toEqual([true, []]);
  expect(table.columns.map(({ key }) => key)).toEqual(sent.columns.map(({ key }) => key));
  expect((await shown())[0]).toEqual(['edited', 'a0']);
});

test('leaving cancels work but not a save, which then removes the stored edits and lets others have them', async () => {
  const write = vi.spyOn(EditStorage.prototype, 'write');
  const close = vi.spyOn(EditStorage.prototype, 'close');
  onTestFinished(() => void vi.restoreAllMocks());
  const dataset = await open(2);
  await vi.waitFor(() => expect(editor.getState().isReady).toBe(true), patience);
  writeCell(0, 0, 'edited');
  const { table: sent } = editor.getState();
  const saving = editor.work(
    'Saving',
    async ({ signal }) => {
      const saved = await store(dataset);
      expect([signal.aborted, editor.isDisposed(), close.mock.calls]).toEqual([false, true, []]);
      editor.rebase(saved, sent);
    },
    { outlastsEditor: true },
  );
  editor.dispose();
  await saving;
  expect(editor.getState().problem).toBeNull();
  expect(write.mock.lastCall).toEqual([null]);
  expect(close).toHaveBeenCalledOnce();
});

test('a paste goes beyond the last row and column, and is one step of undo', async () => {
  const dataset = await open(3);
  selectCells(2, 1);
  await pasteText(editor, '{"a": 1}\tnew\n7\t"two\nlines"\nshort');
  const pasted = [
    ['t0', 'a0', null],
    ['t1', 'a1', null],
    ['t2', { a: 1 }, 'new'],
    [null, '7', 'two\nlines'],
    [null, 'short', null],
  ];
  expect(await shown()).toEqual(pasted);
  expect(editor.getState().selection).toEqual({ anchor: { row: 2, column: 1 }, active: { row: 4, column: 2 } });
  editor.undo();
  expect(await shown()).toHaveLength(3);
  editor.redo();
  expect(await save(dataset)).toEqual(pasted);
});

test('a paste fills a selection that is a multiple of it; clear and fill change the selection only', async () => {
  await open(5);
  selectCells(0, 0, 3, 0);
  await pasteText(editor, 'x\ny');
  selectCells(1, 1, 2, 1);
  await clearSelection(editor);
  selectCells(3, 0, 4, 1);
  await fillDown(editor);
  expect(await shown()).toEqual([
    ['x', 'a0'],
    ['y', null],
    ['x', null],
    ['y', 'a3'],
    ['y', 'a3'],
  ]);
});

test('more rows than a dataset may have are rejected with the number', async () => {
  await open(2);
  selectCells(1, 0);
  await pasteText(editor, 'x\n'.repeat(100_000));
  expect(editor.getState().problem).toContain('at most 100,000 rows');
  expect(editor.getState().table).toBe(editor.getState().original);
});

test('columns are renamed, retyped, moved and deleted with the values of rows that were never loaded', async () => {
  const dataset = await open(700);
  const [ticket, answer] = editor.getState().table.columns;
  editor.change(writeRow(editor.getState().table, 650, { [ticket!.key]: '{"n": 1}' }));
  changeColumn(editor, 0, { ...retyped(ticket!, 'json'), name: 'details' });
  moveColumn(editor, 0, 1);
  deleteColumn(editor, editor.getState().table.columns.indexOf(answer!));
  const rows = await save(dataset);
  expect([rows[0], rows[650], rows.length]).toEqual([['t0'], [{ n: 1 }], 700]);
  expect(editor.getState().dataset.columns).toEqual([{ name: 'details', type: 'json' }]);
});

test('search finds cells in both directions and around the ends', async () => {
  await open(600);
  selectCells(10, 0);
  expect(await findText(editor, 'A599', 1)).toBe(true);
  expect(editor.getState().selection.active).toEqual({ row: 599, column: 1 });
  expect(await findText(editor, 't0', 1)).toBe(true);
  expect(editor.getState().selection.active).toEqual({ row: 0, column: 0 });
  expect(await findText(editor, 't598', -1)).toBe(true);
  expect(editor.getState().selection.active).toEqual({ row: 598, column: 0 });
  expect(await findText(editor, 'nothing', -1)).toBe(false);
});

test('a cell that no file column can have is named before anything is saved', async () => {
  await open(2, [...columns, { name: 'photo', type: 'file' }]);
  selectCells(1, 2);
  await pasteText(editor, 'no file');
  const file = writeEditFile(editor, { signal: new AbortController().signal, report: () => {} });
  await expect(file).rejects.toThrow(InvalidCell);
  await expect(file).rejects.toThrow('Row 2, photo');
});

test('values of the playground become a row, with the columns that a dataset lacks', async () => {
  await open(1);
  const field = { itemFields: [], isFilled: true, problem: null, positions: [], isJson: false, kind: 'text' } as const;
  const fields = [
    { ...field, name: 'ticket', text: 'late' },
    { ...field, name: 'order', text: '{"no": 7}', kind: 'object' as const, isJson: true },
    { ...field, name: 'photo', text: `{"fileId": "${'a'.repeat(64)}"}`, kind: 'file' as const, isJson: true },
    { ...field, name: 'empty', text: '', isFilled: false },
  ];
  expect(rowFor(columns, fields)).toEqual({
    row: { ticket: 'late', order: { no: 7 }, photo: { fileId: 'a'.repeat(64) } },
    added: [
      { name: 'order', type: 'json' },
      { name: 'photo', type: 'file' },
      { name: 'empty', type: 'text' },
    ],
  });
});
