import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { useEffect } from 'react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  CompareColumns,
  useLinkedScroll,
} from '../../../../../../renderer/screens/playground/compare/compare-columns.tsx';
import type { Comparison } from '../../../../../../renderer/screens/playground/compare/use-comparison.ts';
import {
  PlaygroundSession,
  useComparison,
} from '../../../../../../renderer/screens/playground/session/playground-session.tsx';
import { useModelChoices } from '../../../../../../renderer/stores/model-choices.ts';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { openWindow, type OpenWindow } from '../../../../../support/open-window.tsx';
import {
  startScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
} from '../../../../../support/scripted-provider.ts';
import { listRuns, readRun } from '../../../../../../shared/contract/runs.ts';

const models = ['llama-3.1-8b-instant', 'llama-3.3-70b-versatile'] as const;
let provider: ScriptedProvider;
let opened: OpenWindow;
let comparison: Comparison;

function Probe() {
  const current = useComparison();
  useEffect(() => {
    comparison = current;
  });
  return null;
}

/** The columns with the session that they need. */
function Harness() {
  return (
    <PlaygroundSession>
      <CompareColumns />
      <Probe />
    </PlaygroundSession>
  );
}

beforeEach(async () => {
  provider = await startScriptedProvider();
  useDrafts.getState().create({ name: 'Test', promptText: 'Hello', aiSystem: 'Groq', model: models[0] });
  opened = await openWindow(<Harness />, {
    providerBases: { Groq: provider.baseAddress },
    environment: { GROQ_API_KEY: 'gsk_0123456789' },
  });
});
afterEach(async () => {
  await opened.close();
  await provider.close();
});

/** The host also asks for the list of models. */
async function nextRun(): Promise<ScriptedCall> {
  for (;;) {
    const call = await provider.nextCall();
    if (call.method === 'POST') return call;
    call.models(models);
  }
}
const column = (number: number) => screen.getByRole('region', { name: new RegExp(`^Answer ${number}, `) });
const add = (name: string): void => {
  act(() => comparison.add());
  act(() => comparison.onModel({ aiSystem: 'Groq', name }));
};

test('adds at most three models, and removes one', () => {
  for (const name of [models[1], models[0], models[1], models[1]]) add(name);
  expect(useDrafts.getState().drafts[0]?.compared).toHaveLength(3);
  expect([comparison.canAdd, screen.getAllByText('Not run yet').length]).toEqual([false, 4]);
  fireEvent.click(screen.getByRole('button', { name: 'Remove answer 4' }));
  expect([comparison.canAdd, screen.queryByRole('region', { name: /^Answer 4/ })]).toEqual([true, null]);
});

test('runs all in parallel with the same inputs, each with its own warnings, failure and run', async () => {
  useModelChoices.setState({ recent: [] });
  act(() => useDrafts.getState().change(useDrafts.getState().activeId, { promptText: 'Hello {{name}}' }));
  add(models[1]);
  act(() => comparison.run());
  const calls = [await nextRun(), await nextRun()];
  const own = calls.find(({ body }) => body['model'] === models[0])!;
  const other = calls.find(({ body }) => body['model'] === models[1])!;
  expect(own.body['messages']).toEqual(other.body['messages']);
  other.fail(429, 'Slow down', { 'retry-after': '9' });
  await own.chatStream(['Good day']);
  await within(column(1)).findByText('Good day');
  await within(column(2)).findByText(/Slow down/);
  // Ctrl+Enter runs all columns, and the request ID is in the run's details.
  expect(within(column(2)).getByRole('button', { name: /^Run again/ }).textContent).toMatch(/^Run again( in \d s)?$/);
  expect(within(column(2)).queryByText(/Request ID/)).toBeNull();
  await within(column(1)).findByText(/\{\{name\}\}/);
  const { client } = opened.window.host;
  await waitFor(async () => {
    const { data } = await client.call(listRuns, { query: { draftId: useDrafts.getState().activeId } });
    expect(data.map(({ model, status }) => `${model} ${status}`).toSorted()).toEqual([
      `${models[0]} Completed`,
      `${models[1]} Failed`,
    ]);
  });
  const runId = useDrafts.getState().drafts[0]!.compared![0]!.runId!;
  expect((await client.call(readRun, { parameters: { id: runId } })).model).toBe(models[1]);
  // The next prompt starts with the draft's own model.
  expect(useModelChoices.getState().recent.map(({ name }) => name)).toEqual([models[0], models[1]]);
});

test('columns scroll to the same share when the reader scrolls one, and not when a text grows', () => {
  const heights = [1100, 2100, 100];
  function Texts({ isLinked }: { isLinked: boolean }) {
    const { container, addText } = useLinkedScroll(isLinked);
    return (
      <div ref={container}>
        {heights.map((height) => (
          <div
            key={height}
            data-testid="text"
            ref={(text) => {
              if (!text) return;
              Object.defineProperties(text, { scrollHeight: { value: height }, clientHeight: { value: 100 } });
              return addText(text);
            }}
          />
        ))}
      </div>
    );
  }
  const { rerender } = render(<Texts isLinked />);
  const texts = screen.getAllByTestId('text');
  const scroll = (index: number, top: number) => {
    texts[index]!.scrollTop = top;
    fireEvent.scroll(texts[index]!);
    return texts.map(({ scrollTop }) => scrollTop);
  };
  expect(scroll(1, 2000)).toEqual([0, 2000, 0]);
  fireEvent.wheel(texts[0]!);
  expect(scroll(0, 250)).toEqual([250, 500, 0]);
  rerender(<Texts isLinked={false} />);
  fireEvent.wheel(texts[0]!);
  expect(scroll(0, 1000)).toEqual([1000, 500, 0]);
});
