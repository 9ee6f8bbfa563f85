import { describe, expect, test } from 'vitest';
import { rankActions } from '../../../../renderer/shell/palette-actions.ts';
import type { Action } from '../../../../renderer/stores/actions.ts';

const action = (group: string, title: string, more: Partial<Action> = {}): Action => ({
  id: `${group}.${title}`,
  title,
  group,
  run: () => {},
  ...more,
});

const shown = (actions: readonly Action[], search: string) =>
  rankActions(actions, search).map(({ title, actions: found }) => [title, ...found.map((entry) => entry.title)]);

describe('the palette', () => {
  const actions = [
    action('Settings', 'Service models', { keywords: ['hl-gpt-4o-mini'] }),
    action('Settings', 'Appearance'),
    action('Models', 'hl-gpt-4o-mini'),
    action('Models', 'gpt-4o-mini'),
  ];

  test('lists everything in its own order without a search', () => {
    expect(shown(actions, '')).toEqual([
      ['Settings', 'Service models', 'Appearance'],
      ['Models', 'hl-gpt-4o-mini', 'gpt-4o-mini'],
    ]);
  });

  test('lists the best match first, and its group before the others', () => {
    expect(shown(actions, 'gpt')).toEqual([
      ['Models', 'gpt-4o-mini', 'hl-gpt-4o-mini'],
      ['Settings', 'Service models'],
    ]);
  });

  test('leaves out disabled actions and those that are only for their keys', () => {
    const hidden = [
      action('Playground', 'Stop', { isEnabled: false }),
      action('Window', 'Open', { isHiddenInPalette: true }),
    ];
    expect(shown(hidden, '')).toEqual([]);
  });

  test('limits the results of each group', () => {
    const many = Array.from({ length: 160 }, (_, index) => action('Models', `gpt-${index}`));
    expect(rankActions(many, 'gpt')[0]?.actions).toHaveLength(12);
  });
});
