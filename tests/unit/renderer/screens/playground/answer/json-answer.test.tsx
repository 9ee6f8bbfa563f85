// @module-tag slow
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

const schema = JSON.stringify({
  type: 'object',
  properties: { part: { type: 'string' }, decided_on: { type: 'string', format: 'date' }, evidence: { type: 'array' } },
  required: ['part'],
});

let playground: OpenPlayground;
beforeEach(async () => {
  playground = await openPlayground();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await playground.close();
});

const askFor = (responseFormat: string) =>
  act(() => {
    const { activeId, change } = useDrafts.getState();
    change(activeId, { parameters: { response_format: responseFormat } });
  });
const answer = () => within(screen.getByRole('region', { name: 'Answer' }));
const tree = async () => within(await screen.findByRole('tree', { name: 'Answer as a tree' }));
const rows = async () => (await tree()).getAllByRole('treeitem').map(({ textContent }) => textContent);

test('a JSON answer is a tree, with each error at its path, and its text is one click away', async () => {
  askFor(schema);
  const text = '{"part": "fork", "decided_on": "24 November", "evidence": ["photo", 1.50], "n": null}';
  playground.run(text);
  await answer().findByText('1 schema error');
  await waitFor(async () =>
    expect(await rows()).toEqual([
      '{4 properties',
      'part"fork"',
      'decided_on"24 November"/decided_on must be a date, as in 2026-11-24',
      'evidence[2]',
      '0"photo"',
      '11.50',
      'nnull',
    ]),
  );
  fireEvent.click(answer().getByRole('radio', { name: 'Plain' }));
  expect(screen.queryByRole('tree')).toBeNull();
  expect(answer().getByText(text).tagName).toBe('PRE');
  fireEvent.click(answer().getByRole('radio', { name: 'Tree' }));
  await tree();
});

test('an answer that follows its schema says so, and json_object is not checked', async () => {
  askFor(schema);
  playground.run('{"part": "rim"}');
  await answer().findByText('Matches schema');
  askFor('json_object');
  playground.run('{"a": 1}');
  await waitFor(async () => expect(await rows()).toEqual(['{1 property', 'a1']));
  await screen.findByRole('group', { name: 'Rate the answer' });
  expect(answer().queryByText('Matches schema')).toBeNull();
});

test('an invalid JSON answer is shown as text, with the reason', async () => {
  askFor(schema);
  playground.run('```json\n{"part": "rim"}\n```');
  await answer().findByText('Not valid JSON');
  answer().getByText('Shown as text: the answer is not valid JSON (line 1, column 1)');
  expect(screen.queryByRole('tree')).toBeNull();
  expect(answer().getByRole('region', { name: 'Answer text' }).querySelector('pre')?.textContent).toBe(
    '```json\n{"part": "rim"}\n```',
  );
});

test('a text answer stays text', async () => {
  playground.run('{"part": "rim"}');
  await screen.findByRole('group', { name: 'Rate the answer' });
  expect(screen.queryByRole('tree')).toBeNull();
  answer().getByRole('radio', { name: 'Markdown' });
});

test('a key scrolls to the active line of a short tree', async () => {
  askFor('json_object');
  playground.run('{"a": 1, "b": 2}');
  await waitFor(async () => expect(await rows()).toHaveLength(3));
  const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView');
  fireEvent.keyDown(screen.getByRole('tree'), { key: 'End' });
  expect(scrolled.mock.contexts.map((row) => (row as Element).textContent)).toEqual(['b2']);
});

test('the tree opens and closes with the keyboard', async () => {
  askFor('json_object');
  playground.run('{"a": {"b": [1, 2]}, "c": 3}');
  await waitFor(async () => expect(await rows()).toHaveLength(6));
  const element = screen.getByRole('tree');
  const press = (key: string) => fireEvent.keyDown(element, { key });
  const active = () => document.getElementById(element.getAttribute('aria-activedescendant')!)?.textContent;
  press('ArrowDown');
  expect(active()).toBe('a{1 property');
  press('ArrowLeft');
  expect(await rows()).toEqual(['{2 properties', 'a{1 property', 'c3']);
  expect(within(element).getAllByRole('treeitem')[1]?.getAttribute('aria-expanded')).toBe('false');
  press('ArrowRight');
  press('ArrowRight');
  expect(active()).toBe('b[2]');
  press('End');
  expect(active()).toBe('c3');
  press('ArrowLeft');
  expect(active()).toBe('{2 properties');
  press('Enter');
  expect(await rows()).toEqual(['{2 properties']);
});
