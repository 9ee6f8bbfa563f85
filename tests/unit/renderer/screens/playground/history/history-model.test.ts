import { expect, test } from 'vitest';
import type { RunListItem } from '../../../../../../shared/contract/runs.ts';
import type { CompletionRun } from '../../../../../../renderer/stores/live-runs.ts';
import {
  errorLabel,
  historyRows,
  liveRow,
} from '../../../../../../renderer/screens/playground/history/history-model.ts';

const live = {
  key: 'key',
  runId: null,
  state: 'streaming',
  text: '',
  toolCalls: [],
  request: { promptText: 'First line\nsecond', aiSystem: 'OpenAi', model: 'gpt-test' },
  sentAt: 0,
  startedAt: 10,
  endedAt: null,
  servedBy: null,
  error: null,
} as unknown as CompletionRun;
const stored = { runId: 'run', status: 'Running', cost: 0.1, model: 'gpt-test' } as RunListItem;

const shown = (rows: ReturnType<typeof historyRows>) =>
  rows.map(({ runId, status, isNew }) => ({ runId, status, isNew }));

test('a run is on top before the host lists it', () => {
  expect(shown(historyRows([stored], liveRow(live)))).toEqual([
    { runId: 'key', status: 'Running', isNew: true },
    { runId: 'run', status: 'Running', isNew: false },
  ]);
});

test('a row shows the first words of the answer, or the tools that it calls, or the prompt until there is either', () => {
  const toolCalls = ['weather', 'clock'].map((name) => ({ id: name, name, arguments: '' }));
  const runs = [live, { ...live, toolCalls }, { ...live, toolCalls, text: 'The  answer\nbegins' }];
  expect(runs.map((run) => historyRows([], liveRow(run))[0]?.excerpt)).toEqual([
    'First line second',
    'Called weather, clock',
    'The answer begins',
  ]);
});

test('a run that the host lists appears once, in the newer state of the window', () => {
  const stopped = { ...live, runId: 'run', state: 'stopped', endedAt: 30 } as CompletionRun;
  expect(shown(historyRows([stored], liveRow(stopped)))).toEqual([{ runId: 'run', status: 'Cancelled', isNew: false }]);
});

test("the host's record takes precedence after the end", () => {
  const done: RunListItem = { ...stored, status: 'Completed' };
  expect(historyRows([done], liveRow({ ...live, runId: 'run', state: 'completed' } as CompletionRun))).toEqual([
    { ...done, isNew: false },
  ]);
});

test.each(['failed', 'stopped'])(
  'leaves out a run without an id that has %s: the host lists it if it started',
  (state) => {
    expect(historyRows([], liveRow({ ...live, state } as CompletionRun))).toEqual([]);
  },
);

test('translates error codes to words', () => {
  expect([errorLabel('rate_limited'), errorLabel('some_new_code')]).toEqual(['rate limit', 'some new code']);
});

test('tokens after the first words change nothing in a row', () => {
  const text = 'word '.repeat(50);
  expect(liveRow({ ...live, text: `${text}more` })).toEqual(liveRow({ ...live, text }));
});
