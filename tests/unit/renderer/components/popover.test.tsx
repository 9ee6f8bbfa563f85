import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { Popover } from '../../../../renderer/components/popover.tsx';
import { standInForLayout } from '../../../support/layout-stand-ins.ts';

afterEach(cleanup);

function openPopover(): void {
  standInForLayout();
  render(
    <>
      <Popover label="Tags" trigger={<button type="button">Tag</button>}>
        <input aria-label="Find a tag" />
      </Popover>
      <input aria-label="Comment" />
    </>,
  );
  const trigger = screen.getByRole('button', { name: 'Tag' });
  trigger.focus();
  fireEvent.click(trigger);
  expect(document.activeElement).toBe(screen.getByLabelText('Find a tag'));
}

/** Until all that closing has put off is done: it was put off before this. */
const everythingPutOff = () => act(() => new Promise((resolve) => setTimeout(resolve)));
const close = () => fireEvent.keyDown(screen.getByLabelText('Find a tag'), { key: 'Escape' });

test('the focus returns to the button when a popover closes', async () => {
  openPopover();
  close();
  await everythingPutOff();
  expect(screen.queryByLabelText('Find a tag')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Tag' }));
});

test('a field that gets the focus right after a popover closes keeps it', async () => {
  openPopover();
  close();
  screen.getByLabelText('Comment').focus();
  await everythingPutOff();
  expect(document.activeElement).toBe(screen.getByLabelText('Comment'));
});
