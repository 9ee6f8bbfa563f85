import { fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { TeamPage } from '../../../../../renderer/screens/settings/team-page.tsx';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';
import { describeWithPostgres } from '../../../../support/postgres.ts';
import { usePostgres } from '../../../team/team-world.ts';

let opened: OpenWindow;

afterEach(() => opened.close());

const enter = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });

describeWithPostgres('the page of the team database', () => {
  const server = usePostgres();

  test('tests, connects and disconnects', async () => {
    opened = await openWindow(<TeamPage />);
    await screen.findByLabelText('Address');
    enter('Address', server().address('missing'));
    fireEvent.click(screen.getByRole('button', { name: 'Test' }));
    await screen.findByText(/^The team database "missing" doesn't exist/);
    enter('Address', await server().createDatabase());
    enter('Password of the team database', 'not needed');
    fireEvent.click(screen.getByRole('button', { name: 'Test' }));
    await screen.findByText('The connection works, and this user can copy runs.');
    fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Disconnect' }));
    await screen.findByRole('button', { name: 'Connect' });
    expect(opened.window.storage.hasTeam()).toBe(false);
  });
});
