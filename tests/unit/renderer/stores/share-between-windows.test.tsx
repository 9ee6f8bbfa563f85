import { expect, test, vi } from 'vitest';
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

/** Two windows of one browser: a module each, on one storage. */
async function twoWindows<Module>(load: () => Promise<Module>): Promise<[Module, Module]> {
  localStorage.clear();
  const one = await load();
  vi.resetModules();
  return [one, await load()];
}

/** The browser tells the other window what one has written. */
function tell(key: string): void {
  globalThis.dispatchEvent(new StorageEvent('storage', { key, newValue: localStorage.getItem(key) }));
}

test('results that are typed in two windows are stored together', async () => {
  const [one, other] = await twoWindows(() => import('../../../../renderer/stores/tool-results.ts'));
  const long = 'long '.repeat(30_000);
  other.typeResult('run', 'long', { content: long, isError: false });
  one.typeResult('run', 'here', { content: 'Typed here', isError: false });
  tell('tool-results');
  other.typeResult('run', 'there', { content: 'Typed there', isError: false });
  expect(Object.keys(other.useToolResults.getState().byRun['run']!).toSorted()).toEqual(['here', 'long', 'there']);
  const stored = JSON.parse(localStorage.getItem('tool-results')!) as { state: { byRun: { run: object } } };
  expect(Object.keys(stored.state.byRun.run).toSorted()).toEqual(['here', 'there']);
});

test('a maximum cost of automatic steps stays when another window shows the wire', async () => {
  const [one, other] = await twoWindows(() => import('../../../../renderer/stores/playground-view.ts'));
  one.usePlaygroundView.setState({ maxToolCost: 0.5 });
  tell('playground-view');
  other.usePlaygroundView.setState({ isWireOpen: true });
  expect(JSON.parse(localStorage.getItem('playground-view')!)).toMatchObject({ state: { maxToolCost: 0.5 } });
});

test('the order of saved views stays when another window shows another part of runs', async () => {
  const [one, other] = await twoWindows(() => import('../../../../renderer/stores/audit.ts'));
  one.useAuditViewState.setState({ viewOrder: ['second', 'first'] });
  tell('touchstone.audit');
  other.useAuditViewState.setState({ part: 'json' });
  expect(JSON.parse(localStorage.getItem('touchstone.audit')!)).toMatchObject({
    state: { viewOrder: ['second', 'first'] },
  });
});
