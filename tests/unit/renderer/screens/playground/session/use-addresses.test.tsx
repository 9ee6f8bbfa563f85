import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import { expect, test } from 'vitest';
import type { Client } from '../../../../../../renderer/host/client.ts';
import { type Host, HostProvider } from '../../../../../../renderer/host/host-context.tsx';
import { useAddresses } from '../../../../../../renderer/screens/playground/session/use-addresses.ts';
import { readRequest } from '../../../../../../renderer/screens/playground/session/run-request.ts';
import { getActiveDraft, useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { useToasts } from '../../../../../../renderer/stores/toasts.ts';
import { readPrompt, readPromptVersion } from '../../../../../../shared/contract/prompts.ts';
import { readRun, type RunDetail } from '../../../../../../shared/contract/runs.ts';

interface Requested extends PromiseWithResolvers<RunDetail> {
  runId: string;
}

function renderAddress(path: string, call: (endpoint: { id: string }, options: never) => unknown) {
  const host = { client: { call } as unknown as Client, capabilities: new Set() } as unknown as Host;
  const { hook, searchHook, history, navigate } = memoryLocation({ path, record: true });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <HostProvider value={host}>
      <Router hook={hook} searchHook={searchHook}>
        {children}
      </Router>
    </HostProvider>
  );
  const { unmount } = renderHook(useAddresses, { wrapper });
  return { history, navigate, unmount };
}

/** A part of the playground at an address, on a host that gives each run when the test lets it. */
function openAddress(path: string) {
  const requested: Requested[] = [];
  const call = (_endpoint: unknown, { parameters }: { parameters: { id: string } }): Promise<RunDetail> => {
    const answer = { ...Promise.withResolvers<RunDetail>(), runId: parameters.id };
    requested.push(answer);
    return answer.promise;
  };
  const { history, navigate, unmount } = renderAddress(path, call);
  return { asked: requested, addresses: history, go: (to: string) => act(() => navigate(to)), unmount };
}

const runOf = (runId: string): RunDetail =>
  ({
    runId,
    draftId: useDrafts.getState().activeId,
    aiSystem: 'OpenAi',
    model: 'gpt-test',
    origin: { api: 'completions', client: null },
    createdAt: '2026-11-20T12:00:00.000Z',
    title: runId,
    input: {
      promptText: `The text of ${runId}`,
      systemMessage: null,
      replacements: null,
      renderedPrompt: null,
      configuration: null,
      dataspaceIds: null,
    },
  }) as RunDetail;

const textOfDraft = () => {
  const { drafts, activeId } = useDrafts.getState();
  return drafts.find(({ id }) => id === activeId)?.promptText;
};

test('the address of a run restores it, and becomes the address of its draft', async () => {
  const { asked: requested, addresses } = openAddress('/playground/runs/one');
  await act(async () => requested[0]!.resolve(runOf('one')));
  expect(textOfDraft()).toBe('The text of one');
  expect(addresses).toEqual([`/playground/${useDrafts.getState().activeId}`]);
});

test('of two requested runs the later one stays, whichever arrives first', async () => {
  const { asked: requested, addresses, go } = openAddress('/playground/runs/early');
  go('/playground/runs/late');
  await act(async () => requested[1]!.resolve(runOf('late')));
  await act(async () => requested[0]!.resolve(runOf('early')));
  expect(requested.map(({ runId }) => runId)).toEqual(['early', 'late']);
  expect(textOfDraft()).toBe('The text of late');
  expect(addresses).toEqual(['/playground/runs/early', `/playground/${useDrafts.getState().activeId}`]);
});

test("a run that arrives late doesn't take a person back from another page", async () => {
  const text = textOfDraft();
  const { asked: requested, addresses, unmount } = openAddress('/playground/runs/slow');
  unmount();
  await act(async () => requested[0]!.resolve(runOf('slow')));
  expect(addresses).toEqual(['/playground/runs/slow']);
  expect(textOfDraft()).toBe(text);
});

test('a run of another caller has one draft, however often its address is opened', async () => {
  const foreign = { ...runOf('foreign'), draftId: null };
  for (const _time of ['first', 'second']) {
    const { asked: requested, unmount } = openAddress('/playground/runs/foreign');
    await act(async () => requested[0]!.resolve(foreign));
    useDrafts.getState().change(useDrafts.getState().activeId, { shownRunId: 'foreign' });
    unmount();
  }
  expect(useDrafts.getState().drafts.filter(({ name }) => name.startsWith('foreign'))).toHaveLength(1);
});

test('the address of a model selects it, also for the next new prompt', () => {
  openAddress('/playground/models/OpenAiCompatible/workshop%2Fkestrel');
  const { create } = useDrafts.getState();
  const id = create();
  expect(useDrafts.getState().drafts.find((draft) => draft.id === id)?.model).toBe('workshop/kestrel');
});

test('the address of another screen stays, although the playground renders once more', () => {
  const { addresses, go } = openAddress('/playground');
  go('/moderation');
  expect(addresses).toEqual([`/playground/${useDrafts.getState().activeId}`, '/moderation']);
});

const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };

/** Opens an address on a host with these answers, and presses Undo. */
async function openAndUndo(path: string, answers: Record<string, unknown>): Promise<void> {
  renderAddress(path, ({ id }) => Promise.resolve(answers[id]));
  await act(async () => {});
  await act(async () => {});
  expect(getActiveDraft(useDrafts.getState()).tools).toHaveLength(1);
  act(() => useToasts.getState().toasts.at(-1)!.action!.run());
}

test('Undo of a restored run gives back a draft with its tools in the extra parameters', async () => {
  useDrafts.getState().create({ promptText: 'Hello', otherParameters: JSON.stringify({ tools: [tool] }) });
  const { updatedAt: _, ...before } = getActiveDraft(useDrafts.getState());
  const run = runOf('one');
  const dataspaceIds = ['11111111-1111-4111-8111-111111111111'];
  await openAndUndo('/playground/runs/one', {
    [readRun.id]: { ...run, input: { ...run.input, configuration: { tools: [tool] }, dataspaceIds } },
  });
  const { updatedAt: _at, ...after } = getActiveDraft(useDrafts.getState());
  expect(after).toEqual(before);
  expect(readRequest({ ...after, updatedAt: 0 }, null)).toHaveProperty('request');
});

test('Undo of an opened version gives back a draft without its tools', async () => {
  useDrafts.getState().create({ promptText: 'Hello', source: { promptId: 'prompt', versionId: 'first' } });
  const { updatedAt: _, ...before } = getActiveDraft(useDrafts.getState());
  await openAndUndo('/playground/prompts/prompt/second', {
    [readPrompt.id]: { id: 'prompt', name: 'Prompt' },
    [readPromptVersion.id]: {
      id: 'second',
      promptId: 'prompt',
      number: 2,
      promptText: 'Hello',
      systemMessage: null,
      aiSystem: 'OpenAi',
      model: 'gpt-test',
      configuration: { tools: [tool] },
      variables: [],
    },
  });
  const { updatedAt: _at, ...after } = getActiveDraft(useDrafts.getState());
  expect(after).toEqual(before);
});
