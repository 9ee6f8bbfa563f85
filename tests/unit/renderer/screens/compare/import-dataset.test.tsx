import { Blob, File } from 'node:buffer';
import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../../../renderer/host/client.ts';
import { DatasetsView } from '../../../../../renderer/screens/compare/datasets/datasets-view.tsx';
import { emptySetup, useComparisonDrafts } from '../../../../../renderer/stores/comparison-drafts.ts';
import { listDatasets } from '../../../../../shared/contract/datasets.ts';
import { listJudges } from '../../../../../shared/contract/judges.ts';
import { giveEverythingSize } from '../../../../support/layout-stand-ins.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

let opened: OpenWindow;
let client!: Client;

beforeEach(async () => {
  giveEverythingSize();
  // The service reads forms and files of Node, not those of jsdom.
  const form = await new Response(new URLSearchParams()).formData();
  vi.stubGlobal('FormData', form.constructor);
  vi.stubGlobal('File', File);
  vi.stubGlobal('Blob', Blob);
  useComparisonDrafts.setState({ drafts: [] });
  opened = await openWindow(<DatasetsView datasetId={null} />, {
    address: '/compare/datasets',
    prepare: async (own) => void (client = own),
  });
});
afterEach(async () => {
  await opened.close();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

async function chooseFiles(...files: readonly File[]): Promise<HTMLElement> {
  // The button has another place until the list has loaded.
  await screen.findByText('No datasets yet');
  fireEvent.click((await screen.findAllByRole('button', { name: 'Import file' }))[0]!);
  const dialog = await screen.findByRole('dialog', { name: 'Import dataset' });
  fireEvent.change(within(dialog).getByLabelText('Dataset files'), { target: { files } });
  return dialog;
}

const samples = new File(['{"item": {"input": "2 + 2", "ideal": "4"}}\n'], 'samples.jsonl');
const graders = {
  testing_criteria: [
    {
      type: 'string_check',
      name: 'Same',
      input: '{{sample.output_text}}',
      operation: 'eq',
      reference: '{{item.ideal}}',
    },
    {
      type: 'score_model',
      name: 'Clear',
      model: 'gpt-4.1',
      input: [{ role: 'user', content: 'Is {{sample.output_text}} clear?' }],
      range: [0, 1],
    },
  ],
};

test('samples and their graders are imported together, with a judge to create and checks to compare with', async () => {
  const dialog = await chooseFiles(new File([JSON.stringify(graders)], 'graders.json'), samples);
  await within(dialog).findByText('1 row, 2 columns, 1 check, 1 proposed judge');
  expect(within(dialog).getByLabelText<HTMLInputElement>('Name').value).toBe('graders');
  expect(within(dialog).getByRole('combobox', { name: 'Table' })).toBeDefined();
  fireEvent.click(within(dialog).getByRole('button', { name: 'Import 1 row' }));
  const report = await screen.findByRole('dialog', { name: 'Imported 1 row' });
  fireEvent.click(within(report).getByText('Create the judge "Clear"'));
  fireEvent.click(within(report).getByRole('button', { name: 'Create judge' }));
  await within(report).findByText(/^Created the judge "Clear"/);
  const { data: judges } = await client.call(listJudges, {});
  expect(judges.map(({ name }) => name)).toEqual(['Clear']);
  fireEvent.click(within(report).getByRole('button', { name: 'Compare with 1 check' }));
  const { data: datasets } = await client.call(listDatasets, {});
  const [draft = emptySetup()] = useComparisonDrafts.getState().drafts;
  expect([draft.datasetId, draft.checks.map(({ kind }) => kind)]).toEqual([datasets[0]!.id, ['equals']]);
});

test('files that are too large together are not sent', async () => {
  const large = new File(['a\n1\n'], 'a.csv');
  Object.defineProperty(large, 'size', { value: 150 * 1_048_576 });
  const other = new File(['x'], 'b.png');
  Object.defineProperty(other, 'size', { value: 60 * 1_048_576 });
  const dialog = await chooseFiles(large, other);
  expect((await within(dialog).findByRole('alert')).textContent).toContain(
    'These 2 files have 210 MB, more than 200 MB.',
  );
});
