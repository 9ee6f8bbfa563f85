import { expect, test } from 'vitest';
import { isExternalAddress, isWindowAddress } from '../../../electron/shell/window-address.ts';

test.each([
  ['app://touchstone/', true],
  ['app://touchstone/#/settings', true],
  ['app://touchstone.example/', false],
  ['app://other/', false],
  ['app://touchstone@other/', false],
  ['app://user@touchstone/', false],
  ['https://touchstone/', false],
  ['touchstone', false],
  ['', false],
])('%s is a page of the window: %s', (address, expected) => {
  expect(isWindowAddress(address)).toBe(expected);
});

test.each([
  ['https://example.com/a?b#c', true],
  ['http://127.0.0.1:8080/', true],
  ['https://user:password@example.com/', false],
  ['file:///etc/passwd', false],
  ['javascript:alert(1)', false],
  ['smb://server/share', false],
  ['ms-settings:', false],
  ['app://touchstone/', false],
  ['no address', false],
])('%s may open in the browser: %s', (address, expected) => {
  expect(isExternalAddress(address)).toBe(expected);
});
