import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { About } from '../../../../renderer/shell/about.tsx';
import { closeOverlay, openOverlay } from '../../../../renderer/shell/overlay-state.ts';
import { openWindow, type OpenWindow } from '../../../support/open-window.tsx';

let opened: OpenWindow;
afterEach(async () => {
  closeOverlay();
  await opened.close();
});

test('shows that updates are not checked, and opens each licence', async () => {
  opened = await openWindow(<About />);
  openOverlay('about');
  const dialog = await screen.findByRole('dialog', { name: 'About Touchstone' });
  expect(dialog.textContent).toContain('UpdatesNot checked automatically');
  const list = await within(dialog).findByRole('list', { name: 'Licences' });
  const titles = within(list)
    .getAllByRole('listitem')
    .map(({ textContent }) => textContent);
  expect(titles[0]).toBe('TouchstoneMIT');
  expect(new Set(titles).size).toBe(titles.length);
  expect(titles.filter((title) => title?.includes('empty-npm-package'))).toEqual([]);
  const react = within(list).getByRole('button', { name: /^react \d/ });
  fireEvent.click(react);
  expect(within(list).getByText(/Permission is hereby granted/)).toBeTruthy();
  fireEvent.click(react);
  expect(within(list).queryByText(/Permission is hereby granted/)).toBeNull();
  fireEvent.click(within(dialog).getByRole('link', { name: 'Settings, Data and backup' }));
  expect(opened.addresses.at(-1)).toBe('/settings/data');
  expect(screen.queryByRole('dialog')).toBeNull();
});
