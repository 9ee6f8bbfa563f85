import { act, screen, waitFor } from '@testing-library/react';
import { useEffect, useState } from 'react';
import { afterEach, expect, test } from 'vitest';
import {
  PlaygroundSession,
  useComparison,
  useFieldRef,
  useFocusTargets,
  useOpenParts,
  useRunControls,
} from '../../../../../../renderer/screens/playground/session/playground-session.tsx';
import type { Client } from '../../../../../../renderer/host/client.ts';
import { draftSlot, startCompletion } from '../../../../../../renderer/stores/completion-runs.ts';
import { stopRun, useLiveRuns } from '../../../../../../renderer/stores/live-runs.ts';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { openWindow, type OpenWindow } from '../../../../../support/open-window.tsx';

let opened: OpenWindow | undefined;
afterEach(() => opened?.close());

/** A client whose runs stream what the test enqueues. */
function streamingClient() {
  const parts = new TransformStream<object, object>();
  const client = { stream: async () => ({ parts: parts.readable }) } as unknown as Client;
  return { client, writer: parts.writable.getWriter() };
}

test('a streamed token renders none of the components that share the session', async () => {
  let renders = 0;
  function Consumer() {
    useComparison();
    useFocusTargets();
    useOpenParts();
    useRunControls();
    useEffect(() => {
      renders += 1;
    });
    return null;
  }
  opened = await openWindow(
    <PlaygroundSession>
      <Consumer />
    </PlaygroundSession>,
  );
  const { activeId } = useDrafts.getState();
  const slot = draftSlot(activeId);
  const { client, writer } = streamingClient();
  const request = { promptText: 'Hello', aiSystem: 'Groq', model: 'm' } as const;
  const ended = startCompletion(client, slot, { request, transport: 'sse', hasReasoning: false });
  const runId = crypto.randomUUID();
  const write = (content: string) => act(() => writer.write({ runId, choice: { message: { content } } }));
  const text = () => useLiveRuns.getState().runs[slot]?.text;
  await write('One');
  await expect.poll(text).toBe('One');
  await waitFor(() => expect(opened?.queryClient.isFetching()).toBe(0));
  const before = renders;
  for (const word of [' two', ' three']) await write(word);
  await expect.poll(text).toBe('One two three');
  expect(renders).toBe(before);
  stopRun(slot);
  await act(() => writer.close());
  await ended;
  expect(renders).toBeGreaterThan(before);
});

/** A button that moves the focus to a field, which is drawn only after the press of another. */
function LateField() {
  const { focus } = useFocusTargets();
  const fieldRef = useFieldRef();
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const draw = (): void => setDrawn(true);
    addEventListener('draw', draw);
    return () => removeEventListener('draw', draw);
  }, []);
  return (
    <>
      <button type="button" onClick={() => focus('variable/photo')}>
        Add a file
      </button>
      <button type="button">Other</button>
      {isDrawn && <input aria-label="photo" ref={fieldRef('variable/photo')} />}
    </>
  );
}

test.each([
  { title: 'gets the focus when it is drawn', moved: false },
  { title: 'leaves the focus where a person has moved it', moved: true },
])('a field that the focus is moved to before it is drawn $title', async ({ moved }) => {
  opened = await openWindow(
    <PlaygroundSession>
      <LateField />
    </PlaygroundSession>,
  );
  const go = screen.getByRole('button', { name: 'Add a file' });
  const other = screen.getByRole('button', { name: 'Other' });
  go.focus();
  go.click();
  if (moved) other.focus();
  act(() => void dispatchEvent(new Event('draw')));
  const field = screen.getByRole('textbox', { name: 'photo' });
  expect(document.activeElement).toBe(moved ? other : field);
});
