import { screen } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { millisecondsLeft, ModelCard } from '../../../../../renderer/screens/settings/on-device-model.tsx';
import { onDeviceSummary } from '../../../../../renderer/shell/status-bar.tsx';
import type { OnDeviceModel, OnDeviceState } from '../../../../../shared/contract/on-device.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

const absent: OnDeviceModel = {
  id: 'tiny',
  title: 'TinyLlama 1.1B',
  fileName: 'tiny.gguf',
  bytes: 322_600_000,
  memoryBytes: 460_000_000,
  contextTokens: 2048,
  sha256: null,
  licence: 'Apache-2.0',
  note: 'Small.',
  source: 'packages',
  state: 'absent',
  receivedBytes: 0,
  bytesPerSecond: null,
  step: null,
  failure: null,
  isSelected: false,
};
const engine: OnDeviceState['engine'] = {
  state: 'ready',
  loadingSince: null,
  queued: 0,
  isAnswering: false,
  failure: null,
};
const downloading: OnDeviceModel = {
  ...absent,
  state: 'downloading',
  receivedBytes: 148_400_000,
  bytesPerSecond: 11_200_000,
  step: 'part 1 of 2',
};
const selected: OnDeviceModel = { ...absent, state: 'installed', isSelected: true };

describe('the actions on an on-device model', () => {
  let opened: OpenWindow;
  afterEach(() => opened.close());

  test.each([
    ['absent', absent, ['Download 322.6 MB']],
    ['downloading', downloading, ['Pause', 'Stop']],
    ['checking', { ...absent, state: 'checking' }, ['Stop']],
    ['paused', { ...absent, state: 'paused' }, ['Resume', 'Stop']],
    ['failed', { ...absent, state: 'failed', failure: 'No network.' }, ['Retry', 'Discard']],
    ['installed', { ...absent, state: 'installed' }, ['Make default', 'Remove TinyLlama 1.1B']],
    ['selected', selected, ['Test', 'Remove TinyLlama 1.1B']],
  ] as const)('while it is %s', async (_state, model, actions) => {
    opened = await openWindow(<ModelCard model={model} engine={engine} />);
    const names = screen
      .getAllByRole('button')
      .map((button) => button.getAttribute('aria-label') ?? button.textContent);
    expect(names).toEqual(actions);
  });

  test('a download shows its size, its rate and the time left', async () => {
    opened = await openWindow(<ModelCard model={downloading} engine={engine} />);
    const card = screen.getByRole('group', { name: 'TinyLlama 1.1B' });
    for (const text of ['148.4 of 322.6 MB', '11.2 MB/s', '16 s left', 'part 1 of 2'])
      expect(card.textContent).toContain(text);
    expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('46');
  });

  test('a failure shows the reason', async () => {
    opened = await openWindow(
      <ModelCard model={{ ...absent, state: 'failed', failure: 'No network.' }} engine={engine} />,
    );
    expect(screen.getByRole('alert').textContent).toBe('No network.');
  });
});

test('the time left is unknown before there is a rate and a size', () => {
  expect([
    millisecondsLeft(downloading),
    millisecondsLeft({ ...downloading, bytesPerSecond: null }),
    millisecondsLeft({ ...downloading, bytesPerSecond: 0 }),
    millisecondsLeft({ ...downloading, bytes: null }),
  ]).toEqual([expect.closeTo(15_553.57, 1), null, null, null]);
});

const other: OnDeviceModel = { ...absent, id: 'qwen', title: 'Qwen2.5 1.5B', source: 'hugging-face' };

test.each([
  ['nothing is installed', [absent], {}, 'No on-device model'],
  ['one is downloading', [downloading], {}, 'Downloading TinyLlama 1.1B, 46%'],
  ['its download failed', [{ ...absent, state: 'failed' }], {}, "Couldn't download TinyLlama 1.1B"],
  ['its own file is gone', [{ ...absent, state: 'failed', source: 'file' }], {}, 'TinyLlama 1.1B is not available'],
  ['its download is paused', [{ ...absent, state: 'paused' }], {}, 'Download of TinyLlama 1.1B paused'],
  ['one is ready', [selected], {}, 'On-device model ready'],
  [
    'it answers and others wait',
    [selected],
    { isAnswering: true, queued: 2 },
    'On-device model is answering, 2 queued',
  ],
  ['it is loading', [selected], { state: 'loading' }, 'Loading the on-device model'],
  ['it failed to load', [selected], { state: 'failed' }, 'On-device model failed'],
  ['one is ready and another is downloading', [selected, downloading], {}, 'Downloading TinyLlama 1.1B, 46%'],
  [
    'one is ready and the download of another failed',
    [selected, { ...other, state: 'failed' }],
    {},
    'On-device model ready',
  ],
  [
    'one answers and the download of another failed',
    [{ ...other, state: 'failed' }, selected],
    { isAnswering: true },
    'On-device model is answering',
  ],
  [
    'one is ready and the download of another is paused',
    [selected, { ...other, state: 'paused' }],
    {},
    'On-device model ready',
  ],
] as [string, OnDeviceModel[], Partial<OnDeviceState['engine']>, string][])(
  'the status bar is right when %s',
  (_when, models, change, text) => {
    expect(onDeviceSummary({ models, engine: { ...engine, ...change } }).text).toBe(text);
  },
);
