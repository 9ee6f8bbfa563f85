import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { allActions, registerActions, useActions, useActionStore } from '../../../../renderer/stores/actions.ts';

function Part({ title, onRun }: { title: string; onRun: () => void }) {
  useActions('part', [{ id: 'part.go', title, group: 'Part', run: onRun }]);
  return null;
}

const titles = () => allActions(useActionStore.getState().sources).map(({ title }) => title);

describe('actions of a part of the window', () => {
  afterEach(cleanup);

  test('exist while the part does', () => {
    const { unmount } = render(<Part title="Go" onRun={() => {}} />);
    expect(titles()).toEqual(['Go']);
    unmount();
    expect(titles()).toEqual([]);
  });

  test('always run the newest function, and the registry changes only when something visible changes', () => {
    const done: string[] = [];
    const { rerender } = render(<Part title="Go" onRun={() => done.push('first')} />);
    const before = useActionStore.getState().sources;
    rerender(<Part title="Go" onRun={() => done.push('second')} />);
    expect(useActionStore.getState().sources).toBe(before);
    allActions(before)[0]?.run();
    expect(done).toEqual(['second']);
    rerender(<Part title="Go on" onRun={() => {}} />);
    expect(titles()).toEqual(['Go on']);
  });

  test('come before those of the window, in any order of registration', () => {
    const go = { id: 'window.go', title: 'Window', group: 'Window', run: () => {} };
    const unregister = registerActions('window', [go]);
    render(<Part title="Part" onRun={() => {}} />);
    expect(titles()).toEqual(['Part', 'Window']);
    unregister();
  });
});
