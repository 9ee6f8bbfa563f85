// @module-tag slow
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { createUpdates, type Updater } from '../../../../../electron/shell/updates.ts';
import { UpdatesPage } from '../../../../../renderer/screens/settings/updates-page.tsx';
import {
  checkForUpdates,
  downloadUpdate,
  installUpdate,
  readUpdates,
} from '../../../../../shared/contract/host-specific.ts';
import { readSettings, updateSettings } from '../../../../../shared/contract/settings.ts';
import { openWindow, type OpenWindow } from '../../../../support/open-window.tsx';

type FoundUpdate = Awaited<ReturnType<Updater['checkForUpdates']>>;

let opened: OpenWindow;
let closeUpdates: () => void;
const calls: string[] = [];
let check: PromiseWithResolvers<FoundUpdate>;
let download: PromiseWithResolvers<void>;
let progress: (progress: { percent: number }) => void;

/** Stands in for electron-updater, which needs Electron; the tests of the package use the real one. */
const updater: Updater = {
  checkForUpdates() {
    calls.push('check');
    check = Promise.withResolvers();
    return check.promise;
  },
  downloadUpdate() {
    calls.push('download');
    download = Promise.withResolvers();
    return download.promise;
  },
  quitAndInstall: () => void calls.push('install'),
  on: (_event, listener) => void (progress = listener),
};

const found = (version: string, isUpdateAvailable = true): FoundUpdate => ({
  isUpdateAvailable,
  updateInfo: { version },
  cancellationToken: { cancel: () => calls.push('cancel') },
});

async function openPage(feed: string | null = 'https://updates.example/touchstone'): Promise<void> {
  calls.length = 0;
  const loadUpdater = async (): Promise<Updater> => {
    calls.push('load');
    return updater;
  };
  const updates = createUpdates({ feed, loadUpdater, log: () => {} });
  closeUpdates = () => updates.close();
  opened = await openWindow(<UpdatesPage />, { capabilities: ['updates'], handlers: updates.handlers });
  updates.follow(opened.window.storage.settings);
}

afterEach(async () => {
  closeUpdates();
  await opened.close();
});

const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
const turnOn = async () => fireEvent.click(await screen.findByRole('switch', { name: 'Check for updates' }));

test('contacts no host until it is turned on, and then shows which', async () => {
  await openPage();
  await screen.findByText(/Contacts only updates\.example, which sees your IP address/);
  const { client } = opened.window.host;
  for (const endpoint of [checkForUpdates, downloadUpdate, installUpdate])
    await expect(client.call(endpoint)).rejects.toMatchObject({ code: 'conflict' });
  expect([calls, (await client.call(readUpdates)).status]).toEqual([[], 'off']);
});

test('checks, downloads and installs, each only on request', async () => {
  await openPage();
  await turnOn();
  await screen.findByText('Checking for updates');
  expect(calls).toEqual(['load', 'check']);
  check.resolve(found('0.2.0'));
  await screen.findByText('Version 0.2.0 is available');
  expect(calls).toEqual(['load', 'check']);
  press('Download');
  await screen.findByText('Downloading version 0.2.0');
  progress({ percent: 41.7 });
  await screen.findByText('41 %');
  download.resolve();
  await screen.findByText('Version 0.2.0 is ready to install');
  expect(calls).toEqual(['load', 'check', 'download']);
  press('Install and restart');
  await waitFor(() => expect(calls).toEqual(['load', 'check', 'download', 'install']));
});

test('shows that there is no newer version, and checks again on request', async () => {
  await openPage();
  await turnOn();
  await screen.findByText('Checking for updates');
  check.resolve(found('0.1.0', false));
  await screen.findByText('Touchstone is up to date');
  press('Check now');
  await waitFor(() => expect(calls).toEqual(['load', 'check', 'check']));
  check.reject(new Error('net::ERR_CONNECTION_REFUSED'));
  await screen.findByText("Couldn't reach updates.example. Check the connection and try again.");
});

test('turning it off cancels a download, whose end changes nothing', async () => {
  await openPage();
  await turnOn();
  await screen.findByText('Checking for updates');
  check.resolve(found('0.2.0'));
  await screen.findByText('Version 0.2.0 is available');
  press('Download');
  await screen.findByText('Downloading version 0.2.0');
  fireEvent.click(screen.getByRole('switch', { name: 'Check for updates' }));
  await waitFor(() => expect(calls.at(-1)).toBe('cancel'));
  download.resolve();
  expect(await opened.window.host.client.call(readUpdates)).toMatchObject({ status: 'off', version: null });
  expect(screen.queryByRole('button')).toBeNull();
});

test.each([
  [{ code: 'ERR_UPDATER_CHANNEL_FILE_NOT_FOUND' }, 'updates.example has no release for this system.'],
  [{ code: 'ERR_CHECKSUM_MISMATCH' }, 'The download is damaged and was discarded. Try again.'],
  [{ code: 'HTTP_ERROR_503' }, 'updates.example answered with status 503. Try again later.'],
  [{ name: 'YAMLException' }, "updates.example sent a description of the release that can't be read."],
  [{ code: 'ERR_UPDATER_INVALID_VERSION' }, "updates.example sent a description of the release that can't be read."],
  [
    { message: 'net::ERR_BLOCKED_BY_CLIENT' },
    'updates.example refers to another server. Touchstone contacts no other one.',
  ],
  [{ message: 'out of luck' }, 'The update failed for an unknown reason. The log has details.'],
])('explains the failure %j', async (failure, message) => {
  await openPage();
  await opened.window.host.client.call(updateSettings, { body: { updates: { isEnabled: true } } });
  await waitFor(() => expect(calls).toContain('check'));
  check.reject(Object.assign(new Error(), failure));
  await expect
    .poll(async () => await opened.window.host.client.call(readUpdates))
    .toMatchObject({ status: 'failed', failure: message });
});

test('has no switch if the package has no update server', async () => {
  await openPage(null);
  await screen.findByText(/built without an update server/);
  const { client } = opened.window.host;
  await client.call(updateSettings, { body: { updates: { isEnabled: true } } });
  expect([screen.queryByRole('switch'), calls, (await client.call(readUpdates)).status]).toEqual([null, [], 'off']);
  expect((await client.call(readSettings)).updates).toEqual({ isEnabled: true });
});
