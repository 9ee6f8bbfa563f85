import { expect, test } from 'vitest';
import { useAgentDrafts } from '../../../../renderer/stores/agents.ts';

/** As a browser does in all other windows when one has written. */
function writeInAnotherWindow(messages: Record<string, string>): void {
  const newValue = JSON.stringify({ state: { messages }, version: 1 });
  localStorage.setItem('agent-drafts', newValue);
  globalThis.dispatchEvent(new StorageEvent('storage', { key: 'agent-drafts', newValue }));
}

test('a message that was typed in another window appears here, and stays when something is typed here', () => {
  useAgentDrafts.getState().write('one/new', 'Typed here');
  writeInAnotherWindow({ 'one/new': 'Typed here', 'two/new': 'Typed there' });
  useAgentDrafts.getState().write('three/new', 'Typed here later');
  const all = { 'one/new': 'Typed here', 'two/new': 'Typed there', 'three/new': 'Typed here later' };
  expect(useAgentDrafts.getState().messages).toEqual(all);
  expect(JSON.parse(localStorage.getItem('agent-drafts')!)).toMatchObject({ state: { messages: all } });
});
