// @module-tag slow
import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { connectTeam } from '../../../../../../shared/contract/team.ts';
import { useActingReviewer } from '../../../../../../renderer/stores/acting-reviewer.ts';
import { useAuditViewState } from '../../../../../../renderer/stores/audit.ts';
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
    // What needs a team database is gone.
    expect(screen.queryByRole('table', { name: 'Hosts' })).toBeNull();
    expect(screen.queryByRole('radio', { name: 'Team' })).toBeNull();
  });

  test('adds a reviewer, chooses what the audit shows, and removes a host that never comes back', async () => {
    const database = await server().createDatabase();
    opened = await openWindow(<TeamPage />, {
      prepare: async (client) => void (await client.call(connectTeam, { body: { address: database } })),
    });
    await screen.findByRole('table', { name: 'Hosts' }, patience);
    const dead = '5f3c8e52-0000-4000-8000-000000000000';
    await server().query(
      database,
      `INSERT INTO touchstone.hosts (id, name, seen_at) VALUES ('${dead}', 'old-server', now() - interval '1 day');
       INSERT INTO touchstone.api_keys (id, version, name, caller_id, hash, scopes, record_level, created_at)
         VALUES ('${dead}', 0, 'Key', '${dead}', sha256('x'), 'run', 'all', 0);
       INSERT INTO touchstone.credit_leases VALUES ('${dead}', '${dead}', 2, 14, now() - interval '1 minute')`,
    );
    fireEvent.click(screen.getByRole('button', { name: 'Add reviewer' }));
    const adding = await screen.findByRole('dialog', { name: 'Add a reviewer' });
    fireEvent.change(within(adding).getByLabelText('Name'), { target: { value: 'Wren' } });
    fireEvent.click(within(adding).getByRole('button', { name: 'Add reviewer' }));
    await screen.findByRole('cell', { name: 'Wren' }, patience);
    // Nobody reviews under the name until somebody chooses it.
    expect(useActingReviewer.getState().token).toBeNull();

    fireEvent.click(screen.getByRole('radio', { name: 'Team' }));
    expect(useAuditViewState.getState().source).toBe('team');

    await screen.findByText('Not connected, holds 12 credits in reserve', {}, patience);
    expect(screen.getAllByRole('button', { name: /^Remove / })).toHaveLength(1);
    fireEvent.click(screen.getByRole('button', { name: 'Remove old-server' }));
    const removing = await screen.findByRole('alertdialog', { name: 'Remove old-server?' });
    expect(removing.textContent).toContain('Other hosts can use the 12 credits that it holds.');
    fireEvent.click(within(removing).getByRole('button', { name: 'Remove host' }));
    await vi.waitFor(() => expect(screen.queryByText('old-server')).toBeNull(), patience);
    const left = await server().query(database, 'SELECT spent, ceiling FROM touchstone.credit_leases');
    expect(left).toEqual([{ spent: '2', ceiling: '2' }]);
  });
});
