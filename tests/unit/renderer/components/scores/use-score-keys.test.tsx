import { cleanup, fireEvent, renderHook } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { useScoreKeys } from '../../../../../renderer/components/scores.tsx';

afterEach(cleanup);

function openRun(isEnabled: boolean) {
  const scores: number[] = [];
  const hook = renderHook(
    (enabled: boolean) => useScoreKeys(scores.at(-1) ?? null, (score) => scores.push(score), { isEnabled: enabled }),
    { initialProps: isEnabled },
  );
  return { scores, arrive: () => hook.rerender(true) };
}

const press = (keys: string) => {
  for (const key of keys) fireEvent.keyDown(document.body, { key });
};

test('keys set the score of the open run at once', () => {
  const { scores } = openRun(true);
  press('-10');
  expect(scores).toEqual([-1, -10]);
});

test('a score that is typed while the run loads is applied completely', () => {
  const { scores, arrive } = openRun(false);
  press('-1');
  expect(scores).toEqual([]);
  arrive();
  press('0');
  expect(scores).toEqual([-1, -10]);
});

test('a score is dropped if the person moves on before the run has loaded', () => {
  const { scores, arrive } = openRun(false);
  press('-4j');
  arrive();
  expect(scores).toEqual([]);
});

test('with a scope, keys count only while the focus is inside it', () => {
  const [inside, outside] = [document.createElement('div'), document.createElement('div')];
  document.body.append(inside, outside);
  const scores: number[] = [];
  renderHook(() => useScoreKeys(null, (score) => scores.push(score), { isEnabled: true, scope: { current: inside } }));
  fireEvent.keyDown(outside, { key: '3' });
  fireEvent.keyDown(document.body, { key: '4' });
  fireEvent.keyDown(inside, { key: '5' });
  expect(scores).toEqual([5]);
});
