import { QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Button } from '../../../../renderer/components/button.tsx';
import { createQueryClient } from '../../../../renderer/queries/query-client.ts';
import { useToasts } from '../../../../renderer/stores/toasts.ts';

beforeEach(() => useToasts.setState({ toasts: [] }));
afterEach(cleanup);

const toasts = () => useToasts.getState().toasts.map(({ text }) => text);

/** A button whose change fails when the returned function is called. */
function open(meta: { isFailureShown?: boolean; isOnlyForCaller?: boolean }) {
  const gate = Promise.withResolvers<void>();
  const queryClient = createQueryClient();
  function Part() {
    const { mutate, error } = useMutation({ meta, mutationFn: () => gate.promise });
    return <button onClick={() => mutate()}>{error ? error.message : 'Save'}</button>;
  }
  const { unmount } = render(
    <QueryClientProvider client={queryClient}>
      <Part />
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByRole('button'));
  const fail = async (error: Error): Promise<void> => {
    await act(async () => gate.reject(error));
    await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  };
  return { unmount, fail };
}

test('a failure is shown by the part that started the change while it is open', async () => {
  const { fail } = open({ isFailureShown: true });
  await fail(new Error('The name is taken.'));
  await screen.findByText('The name is taken.');
  expect(toasts()).toEqual([]);
});

test('a failure is a toast once the part that would show it is closed', async () => {
  const { unmount, fail } = open({ isFailureShown: true });
  unmount();
  await fail(new Error('The name is taken.'));
  expect(toasts()).toEqual(['The name is taken.']);
});

test.each([
  ['that the part aborted when it closed', { isFailureShown: true }, new DOMException('Aborted', 'AbortError')],
  ['that only its caller needs', { isOnlyForCaller: true }, new Error('The file is empty.')],
])('a failure of work %s is no toast', async (_, meta, error) => {
  const { unmount, fail } = open(meta);
  unmount();
  await fail(error);
  expect(toasts()).toEqual([]);
});

test('a button is busy before the next click, so that a double-click sends a change once', async () => {
  let sent = 0;
  const gate = Promise.withResolvers<void>();
  function Part() {
    const { mutate, isPending } = useMutation({
      mutationFn: () => {
        sent += 1;
        return gate.promise;
      },
    });
    return (
      <Button isBusy={isPending} onClick={() => mutate()}>
        Save
      </Button>
    );
  }
  render(
    <QueryClientProvider client={createQueryClient()}>
      <Part />
    </QueryClientProvider>,
  );
  const button = screen.getByRole('button');
  button.click();
  // What the browser does between two clicks, however busy it is: microtasks, but no timer.
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  button.click();
  await waitFor(() => expect(button.getAttribute('aria-busy')).toBe('true'));
  expect(sent).toBe(1);
  await act(async () => gate.resolve());
});
