import { describe, expect, test } from 'vitest';
import { serverState } from '../../../../renderer/queries/host-state.ts';
import type { HostState, Settings } from '../../../../shared/contract/settings.ts';

const desktop: HostState = {
  version: '1',
  platform: 'linux',
  capabilities: ['local-server-switch'],
  dataDirectory: '/data',
  databaseBytes: 0,
  runs: 0,
  serverAddress: null,
  serverFailure: null,
  protocols: [],
};
const listening = { ...desktop, serverAddress: 'http://127.0.0.1:4117' };
const off: Settings['localServer'] = { isEnabled: false, port: 4117, isTls: false };
const on = { ...off, isEnabled: true };

describe('the local server', () => {
  test.each([
    ['is off when nobody switched it on', desktop, off, 'off'],
    ['is on at the port that was asked for', listening, on, 'on'],
    ['is on at any port when any was asked for', listening, { ...on, port: 0 }, 'on'],
    ['changes until it listens', desktop, on, 'changing'],
    ['changes until it has stopped', listening, off, 'changing'],
    ['changes until it has moved to another port', listening, { ...on, port: 5000 }, 'changing'],
    ['changes until it speaks TLS', listening, { ...on, isTls: true }, 'changing'],
    ['has failed when the host says so', { ...desktop, serverFailure: 'Port 4117 is taken.' }, on, 'failed'],
    ['always is on where it cannot be switched', { ...listening, capabilities: [] }, off, 'on'],
  ] as [string, HostState, Settings['localServer'], string][])('%s', (_name, host, expected, state) => {
    expect(serverState(host, expected)).toBe(state);
  });
});
