import { act, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

let playground: OpenPlayground;
beforeEach(async () => {
  playground = await openPlayground();
});
afterEach(() => playground.close());

const write = (promptText: string) => {
  const { activeId, change } = useDrafts.getState();
  act(() => change(activeId, { promptText }));
};
test('a file that the host has removed is named missing', async () => {
  const { activeId, change } = useDrafts.getState();
  act(() => change(activeId, { values: { photo: JSON.stringify({ fileId: 'a'.repeat(64) }) } }));
  write('{{media url=photo}}');
  expect((await screen.findByRole('alert')).textContent).toContain('This file was removed');
});
