import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { useDrafts } from '../../../../../../renderer/stores/playground-drafts.ts';
import { compareWith, openPlayground, type OpenPlayground } from '../../../../../support/open-playground.tsx';

let playground: OpenPlayground;
afterEach(() => playground.close());

const addModel = () => screen.getByRole('button', { name: 'Add model' });

test('with four models Add model stays, disabled and with the reason', async () => {
  playground = await openPlayground();
  compareWith(2);
  expect(addModel().getAttribute('aria-disabled')).toBeNull();
  compareWith(3);
  expect(addModel().getAttribute('aria-disabled')).toBe('true');
  expect(addModel().getAttribute('aria-description')).toBe('Up to 4 models can be compared');
  fireEvent.click(addModel());
  expect(screen.queryByRole('dialog', { name: 'Choose model' })).toBeNull();
});

test("the prompt moves above the answers if they don't fit beside it, and keeps its editor", async () => {
  playground = await openPlayground({ isWide: false });
  const editor = screen.getByRole('textbox', { name: 'Prompt, Handlebars' });
  expect(screen.getByRole('separator', { name: 'Width of the prompt' })).toBeTruthy();
  compareWith(1);
  expect(screen.getByRole('separator', { name: 'Height of the prompt' }).getAttribute('aria-orientation')).toBe(
    'horizontal',
  );
  expect(screen.getByRole('textbox', { name: 'Prompt, Handlebars' })).toBe(editor);
  fireEvent.click(screen.getByRole('button', { name: 'Close comparison' }));
  expect(screen.getByRole('separator', { name: 'Width of the prompt' })).toBeTruthy();
});

test('each column rates its own answer, with its button and with the keys', async () => {
  playground = await openPlayground();
  compareWith(1);
  playground.run('Good morning');
  const button = (number: number) => screen.findByRole('button', { name: new RegExp(`^Rate answer ${number}`) });
  await button(1);
  const second = screen.getByRole('region', { name: /^Answer 2, / });
  await within(second).findByRole('button', { name: /^Rate answer 2/ });
  fireEvent.keyDown(within(second).getByRole('region', { name: /^Answer text/ }), { key: '7' });
  await screen.findByRole('button', { name: 'Rate answer 2, 7' });
  fireEvent.click(await button(1));
  fireEvent.click(within(screen.getByRole('dialog', { name: 'Rate answer 1' })).getByRole('radio', { name: '-3' }));
  await screen.findByRole('button', { name: 'Rate answer 1, -3', hidden: true });
  expect(useDrafts.getState().drafts[0]?.compared).toHaveLength(1);
});
