import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { TeamPage } from '../../../../../../renderer/screens/settings/team/team-page.tsx';
import { openWindow, type OpenWindow } from '../../../../../support/open-window.tsx';
import { patience } from '../../../../../support/patience.ts';
import { describeWithPostgres } from '../../../../../support/postgres.ts';
import { usePostgres } from '../../../../team/team-world.ts';

let opened: OpenWindow;

afterEach(() => opened.close());

const enter = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

describeWithPostgres('the page of the team database', () => {
  const server = usePostgres();

  const passwordField = () => screen.findByLabelText('Password');
  const steps = () =>
    within(screen.getByRole('list', { name: 'Connection test' }))
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent.replace(/, \d.*$/, ''));

  test('tests step by step, connects, keeps the password and disconnects', async () => {
    opened = await openWindow(<TeamPage />);
    await screen.findByLabelText('Address');
    fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
    await screen.findByText(/needs a user and a database/);
    enter('Address', server().address('missing'));
    fireEvent.click(screen.getByRole('button', { name: 'Test' }));
    await screen.findByText(/^The team database "missing" doesn't exist/);
    expect(steps()).toEqual([
      'DNSa Unix socket',
      'Portopen',
      'TLSnot encrypted',
      'Sign inno such database',
      'Tablesnot reached',
    ]);
    const database = await server().createDatabase();
    // A pasted address fills the other fields.
    const pasted = database.replace('owner@', 'owner:pass%20word@');
    fireEvent.paste(screen.getByLabelText('Address'), { clipboardData: { getData: () => pasted } });
    expect(screen.getByLabelText<HTMLInputElement>('User').value).toBe('owner');
    expect(screen.getByLabelText<HTMLInputElement>('Password').value).toBe('pass word');
    expect(screen.getByLabelText<HTMLInputElement>('Address').value).not.toMatch(/owner|pass/);
    fireEvent.click(screen.getByRole('button', { name: 'Test' }));
    await screen.findByText('The connection works, and this user can copy runs.');
    expect(steps()[4]).toBe('Tablescreated when you connect');
    expect(await server().query(database, "SELECT to_regnamespace('touchstone') AS found")).toEqual([{ found: null }]);
    fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Replace' }));
    expect((await passwordField()).getAttribute('type')).toBe('password');
    await screen.findByText('Connected', {}, patience);
    within(await screen.findByRole('table', { name: 'Hosts' }, patience)).getByText('(this one)');
    fireEvent.click(await screen.findByRole('button', { name: 'Disconnect' }));
    await screen.findByRole('button', { name: 'Connect' });
    expect(opened.window.storage.hasTeam()).toBe(false);
  });
});
