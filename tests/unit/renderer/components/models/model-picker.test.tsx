// @module-tag slow
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ModelPicker } from '../../../../../renderer/components/models/model-picker.tsx';
import { useModelChoices } from '../../../../../renderer/stores/model-choices.ts';
import { addEndpoint } from '../../../../../shared/contract/providers.ts';
import { defaultSettings, updateSettings, type Settings } from '../../../../../shared/contract/settings.ts';
import { openWindow, type OpenWindow, type OpenWindowOptions } from '../../../../support/open-window.tsx';
import { startScriptedProvider, type ScriptedProvider } from '../../../../support/scripted-provider.ts';

let provider: ScriptedProvider;
let opened: OpenWindow;
const onChoose = vi.fn();

beforeEach(async () => {
  onChoose.mockReset();
  useModelChoices.setState({ recent: [], favourites: [] });
  provider = await startScriptedProvider((call) =>
    call.models(['kestrel', 'kestrel-2026-05-01', 'kestrel-2026-06-01']),
  );
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

async function openPicker(options: OpenWindowOptions = {}): Promise<void> {
  const picker = <ModelPicker isOpen chosenKey="" onChoose={onChoose} onChooseAndRun={() => {}} onClose={() => {}} />;
  opened = await openWindow(picker, options);
}

const openWorkshop = (): Promise<void> =>
  openPicker({
    prepare: (client) => client.call(addEndpoint, { body: { name: 'workshop', baseAddress: provider.baseAddress } }),
  });

// By id: a search by role goes through hundreds of models each time.
const option = (key: string) => waitFor(() => document.getElementById(`model-${key}`) ?? expect.unreachable());
const kestrel = () => option('OpenAiCompatible/workshop/kestrel');
const search = () => screen.getByLabelText('Search models');
const namesOf = (group: string) =>
  [...(document.getElementById(`models-${group}`)?.querySelectorAll('.models__name') ?? [])].map((name) =>
    name.getAttribute('title'),
  );
const favourites = () => namesOf('favourites');
const workshop = () => namesOf('OpenAiCompatible/workshop');

/** The texts of the columns behind the name: context, prices, and what the model supports. */
function details(row: HTMLElement): string[] {
  const numbers = [...row.querySelectorAll('.models__number')].map((cell) => cell.textContent);
  const supported = [...row.querySelectorAll('.models__caps span')].filter(({ firstChild }) => firstChild !== null);
  return [...numbers, ...supported.map((cell) => cell.getAttribute('title') ?? '')];
}

test('a routed built-in model shows the details of the model that it is routed to', async () => {
  const serviceRoutes: Settings['serviceRoutes'] = {
    ...defaultSettings.serviceRoutes,
    'hl-gpt-4.1-mini': { kind: 'provider', aiSystem: 'OpenAi', model: 'gpt-4.1-mini' },
  };
  await openPicker({ prepare: (client) => client.call(updateSettings, { body: { serviceRoutes } }) });
  const routed = await option('ServiceAi/hl-gpt-4.1-mini');
  expect(details(routed)).toEqual(details(await option('OpenAi/gpt-4.1-mini')));
  expect(details(routed)).toEqual(expect.arrayContaining(['1.05M', '0.40', '1.60', 'Tools', 'Vision']));
  fireEvent.pointerMove(routed);
  const about = screen.getByLabelText('About hl-gpt-4.1-mini');
  expect(about.textContent).toContain('Built-in, routed to OpenAI gpt-4.1-mini');
  expect(about.textContent).toContain('No API key for OpenAI.');
  expect(within(about).getByText('Add key')).toBeTruthy();
});

test.each([
  ['Ctrl+D', () => fireEvent.keyDown(search(), { key: 'd', ctrlKey: true })],
  ['Cmd+D', () => fireEvent.keyDown(search(), { key: 'd', metaKey: true })],
  ['its star', (row: HTMLElement) => fireEvent.click(within(row).getByTitle(/favourites$/))],
])('%s adds a model to the favourites and removes it again, without choosing it', async (_, toggle) => {
  await openWorkshop();
  fireEvent.pointerMove(await kestrel());
  toggle(await kestrel());
  expect(favourites()).toEqual(['workshop/kestrel']);
  const row = await kestrel();
  expect(row.getAttribute('aria-selected')).toBe('true');
  expect(row.textContent).toContain('kestrel, favourite');
  toggle(row);
  expect(favourites()).toEqual([]);
  expect(workshop()).toEqual(['workshop/kestrel']);
  expect(onChoose).not.toHaveBeenCalled();
});

test.each([
  ['ArrowRight', () => fireEvent.keyDown(search(), { key: 'ArrowRight' })],
  ['their count', () => fireEvent.click(screen.getByTitle('2 dated versions'))],
])('%s shows the dated copies of a model and hides them again', async (_, toggle) => {
  await openWorkshop();
  fireEvent.pointerMove(await kestrel());
  toggle();
  expect(workshop()).toEqual(['workshop/kestrel', 'workshop/kestrel-2026-06-01', 'workshop/kestrel-2026-05-01']);
  toggle();
  expect(workshop()).toEqual(['workshop/kestrel']);
  expect(onChoose).not.toHaveBeenCalled();
});
