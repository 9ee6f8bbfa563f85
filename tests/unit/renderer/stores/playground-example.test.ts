import { expect, test } from 'vitest';
import { exampleDraft, promptEdit } from '../../../../renderer/stores/playground-drafts.ts';

test('a prompt of one’s own in the place of the example’s has neither its parameters, which would cut it, nor its name', () => {
  expect(promptEdit(exampleDraft, 'Write a poem.\n\nOn {{thing}}.')).toEqual({
    promptText: 'Write a poem.\n\nOn {{thing}}.',
    isExample: false,
    parameters: {},
    name: 'Untitled prompt',
  });
  expect(promptEdit({ isExample: true, name: 'Poems' }, 'Write a poem.')).not.toHaveProperty('name');
});

test('an example that is edited keeps its parameters, and so does a prompt that never was one', () => {
  const edited = exampleDraft.promptText.replace('short sentence', 'long sentence');
  expect([
    promptEdit(exampleDraft, edited),
    promptEdit({ isExample: false, name: exampleDraft.name }, 'Write a poem.'),
  ]).toEqual([
    { promptText: edited, isExample: false },
    { promptText: 'Write a poem.', isExample: false },
  ]);
});
