import type { Session } from 'electron';
import { expect, test } from 'vitest';
import { proxyOfRules, withSystemProxy } from '../../../electron/shell/system-proxy.ts';

const sessionWith = (rules: string) => ({ resolveProxy: async () => rules }) as unknown as Session;

test.each([
  ['DIRECT', null],
  ['', null],
  ['PROXY proxy.test:3128', 'http://proxy.test:3128'],
  ['PROXY first.test:80; PROXY second.test:80; DIRECT', 'http://first.test:80'],
  ['HTTPS proxy.test:443', 'https://proxy.test:443'],
  ['SOCKS5 proxy.test:1080', 'socks5://proxy.test:1080'],
  ['QUIC proxy.test:443', null],
])(`reads the system's rules "%s" as %s`, (rules, proxy) => {
  expect(proxyOfRules(rules)).toBe(proxy);
});

test("uses the system's proxy if the environment sets none", async () => {
  const PROXY = 'http://proxy.test:3128';
  const session = sessionWith('PROXY proxy.test:3128');
  expect(await withSystemProxy({ HOME: '/home/ana' }, session)).toEqual({
    HOME: '/home/ana',
    HTTPS_PROXY: PROXY,
    HTTP_PROXY: PROXY,
  });
  expect(await withSystemProxy({ NO_PROXY: '*' }, session)).toEqual({ NO_PROXY: '*' });
  expect(await withSystemProxy({ https_proxy: 'http://own.test' }, session)).toEqual({
    https_proxy: 'http://own.test',
  });
  expect(await withSystemProxy({}, sessionWith('DIRECT'))).toEqual({});
});
