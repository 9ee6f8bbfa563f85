import type { Session } from 'electron';
import { expect, test } from 'vitest';
import { proxyOfRules, systemNetwork } from '../../../electron/shell/system-proxy.ts';

const sessionWith = (rules: string) => ({ resolveProxy: async () => rules }) as unknown as Session;
const environmentOf = async (environment: NodeJS.ProcessEnv, session: Session) =>
  (await systemNetwork(environment, session)).environment;

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
  expect(await environmentOf({ HOME: '/home/ana' }, session)).toEqual({
    HOME: '/home/ana',
    HTTPS_PROXY: PROXY,
    HTTP_PROXY: PROXY,
  });
  expect(await environmentOf({ NO_PROXY: '*' }, session)).toEqual({ NO_PROXY: '*' });
  expect(await environmentOf({ https_proxy: 'http://own.test' }, session)).toEqual({
    https_proxy: 'http://own.test',
  });
  expect(await environmentOf({}, sessionWith('DIRECT'))).toEqual({});
});

test('asks the system about each address, and uses its proxy if there is no answer', async () => {
  const addresses: string[] = [];
  const session = {
    resolveProxy: async (address: string) => {
      addresses.push(address);
      if (address.includes('broken')) throw new Error('no script');
      return address.includes('intranet') ? 'DIRECT' : 'PROXY proxy.test:3128';
    },
  } as unknown as Session;
  const { isDirect } = await systemNetwork({}, session);
  const origins = ['https://intranet.test:8443', 'https://models.test', 'https://broken.test'];
  expect(await Promise.all(origins.map((origin) => isDirect!(origin)))).toEqual([true, false, false]);
  expect(addresses.slice(1)).toEqual(origins.map((origin) => `${origin}/`));
});
