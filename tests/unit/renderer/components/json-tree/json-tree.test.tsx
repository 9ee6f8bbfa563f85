import { renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import { useJsonOutline } from '../../../../../renderer/components/json-tree/json-tree.tsx';

test.each(['', '{"city": '])('an ended text %j is not continued by another one', (before) => {
  const { result, rerender } = renderHook(({ text }) => useJsonOutline(text, false), {
    initialProps: { text: before },
  });
  rerender({ text: '{"city": "Paris"}' });
  expect(result.current.fault).toBeNull();
  const { current } = result;
  rerender({ text: '{"city": "Paris"}' });
  expect(result.current).toBe(current);
});
