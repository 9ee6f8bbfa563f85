import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { noAbort } from '../../support/provider-calls.ts';
import { rejectionOf, useProvidersWorld } from '../../support/providers-world.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

const world = useProvidersWorld();
const other = 'http://127.0.0.1:1/v1';

describe('the origin of a key', () => {
  function confirmationOf(providers: ReturnType<typeof world.open>, name: string) {
    return providers.providerStates().find(({ aiSystem }) => aiSystem === name)!.confirmation;
  }

  function sourceOf(providers: ReturnType<typeof world.open>, name: string) {
    return providers.providerStates().find(({ aiSystem }) => aiSystem === name)?.keySource;
  }

  async function sentKeys(act: () => unknown): Promise<unknown[]> {
    world.server.answerWith((call) => call.json(401, {}));
    const before = world.server.calls.length;
    await Promise.resolve(act()).catch(() => undefined);
    return world.server.calls.slice(before).map(({ headers }) => headers.authorization);
  }

  it('is its address when it is entered: a changed address needs the key again', async () => {
    const providers = world.open();
    providers.setKey('Groq', 'for-groq');
    providers.setBaseAddress('Groq', world.server.baseAddress);
    expect(sourceOf(providers, 'Groq')).toBeNull();
    expect(rejectionOf(() => providers.resolve('Groq', 'llama-3.1-8b-instant')).message).toBe(
      `The API key of Groq is for https://api.groq.com and isn't sent to ${new URL(world.server.baseAddress).origin}. ` +
        'Check the address in Settings, Providers and keys.',
    );
    expect(await sentKeys(async () => providers.test('Groq', { signal: noAbort() }))).toEqual([]);
    providers.setKey('Groq', 'for-gateway');
    expect(await sentKeys(async () => providers.test('Groq', { signal: noAbort() }))).toEqual(['Bearer for-gateway']);
    providers.setBaseAddress('Groq', null);
    expect(sourceOf(providers, 'Groq')).toBeNull();
  });

  it('may have another path, and the key works again at its own address', () => {
    const providers = world.open();
    providers.setBaseAddress('Groq', other);
    providers.setKey('Groq', 'k');
    providers.setBaseAddress('Groq', 'http://127.0.0.1:1/other');
    expect(sourceOf(providers, 'Groq')).toBe('memory');
    providers.setBaseAddress('Groq', 'http://127.0.0.1:2/v1');
    expect(sourceOf(providers, 'Groq')).toBeNull();
    providers.setBaseAddress('Groq', other);
    expect(sourceOf(providers, 'Groq')).toBe('memory');
  });

  it('protects the keychain from the addresses of a foreign or restored database', async () => {
    const mine = world.open();
    mine.setKey('Groq', 'k');
    mine.addEndpoint({ name: 'gateway', baseAddress: other, key: 'mine' });
    world.storage.providerCache.setBaseAddress('Groq', world.server.baseAddress);
    world.storage.providerCache.setEndpointAddress('gateway', world.server.baseAddress);
    const foreign = world.open();
    expect([sourceOf(foreign, 'Groq'), foreign.endpoints()[0]?.keySource]).toEqual([null, null]);
    expect(await sentKeys(async () => foreign.test('Groq', { signal: noAbort() }))).toEqual([]);
    expect(await sentKeys(async () => foreign.testEndpoint('gateway', { signal: noAbort() }))).toEqual([]);
  });

  it('of an endpoint is its address: a changed one keeps the key only if both are set together', async () => {
    const providers = world.open();
    providers.addEndpoint({ name: 'gateway', baseAddress: other, key: 'old' });
    expect(providers.updateEndpoint('gateway', { baseAddress: world.server.baseAddress }).keySource).toBeNull();
    expect(await sentKeys(async () => providers.testEndpoint('gateway', { signal: noAbort() }))).toEqual([]);
    providers.updateEndpoint('gateway', { key: 'new' });
    expect(await sentKeys(async () => providers.testEndpoint('gateway', { signal: noAbort() }))).toEqual([
      'Bearer new',
    ]);
  });

  it("is the provider's for a key of the environment, or a confirmed one, unless the command line sets the address", async () => {
    const environment = { GROQ_API_KEY: 'k' };
    const { origin } = new URL(world.server.baseAddress);
    world.storage.providerCache.setBaseAddress('Groq', world.server.baseAddress);
    const providers = world.open({ environment });
    expect(confirmationOf(providers, 'Groq')).toEqual({
      origin,
      keyOrigin: 'https://api.groq.com',
      keySource: 'environment',
    });
    expect(await sentKeys(async () => providers.test('Groq', { signal: noAbort() }))).toEqual([]);
    const overridden = world.open({ environment, baseOverrides: { Groq: world.server.baseAddress } });
    expect(await sentKeys(async () => overridden.test('Groq', { signal: noAbort() }))).toEqual(['Bearer k']);

    expect(providers.confirmAddress('Groq', origin)).toMatchObject({ keySource: 'environment', confirmation: null });
    expect(await sentKeys(async () => providers.test('Groq', { signal: noAbort() }))).toEqual(['Bearer k']);
    expect(sourceOf(world.open({ environment }), 'Groq')).toBe('environment');
    providers.setBaseAddress('Groq', null);
    expect(sourceOf(providers, 'Groq')).toBe('environment');
    providers.setBaseAddress('Groq', other);
    expect(sourceOf(providers, 'Groq')).toBeNull();
  });

  it("of keys from earlier versions is the provider's, and needs a confirmation for an endpoint", () => {
    world.keyStore.write('Groq', 'k');
    world.keyStore.write('endpoint:gateway', 'k');
    world.storage.providerCache.addEndpoint({ name: 'gateway', baseAddress: other });
    const providers = world.open();
    const requested = { origin: 'http://127.0.0.1:1', keyOrigin: null, keySource: 'memory' };
    expect([sourceOf(providers, 'Groq'), providers.endpoints()[0]?.confirmation]).toEqual(['memory', requested]);
    expect(providers.confirmEndpoint('gateway', requested.origin)).toMatchObject({
      keySource: 'memory',
      confirmation: null,
    });
    providers.setBaseAddress('Groq', other);
    expect([
      sourceOf(providers, 'Groq'),
      providers.updateEndpoint('gateway', { baseAddress: 'http://127.0.0.1:2' }).keySource,
    ]).toEqual([null, null]);
  });

  it("is confirmed only if it hasn't changed meanwhile, and never reverts to the old one", async () => {
    const providers = world.open();
    const { origin } = new URL(world.server.baseAddress);
    providers.setKey('Groq', 'k');
    providers.setBaseAddress('Groq', other);
    const seen = confirmationOf(providers, 'Groq')!.origin;
    providers.setBaseAddress('Groq', world.server.baseAddress);
    expect(rejectionOf(() => providers.confirmAddress('Groq', seen)).code).toBe('conflict');
    expect(sourceOf(providers, 'Groq')).toBeNull();
    expect(await sentKeys(async () => providers.confirmAddress('Groq', origin))).toEqual([]);
    expect(await sentKeys(async () => providers.test('Groq', { signal: noAbort() }))).toEqual(['Bearer k']);
    // A second window that still shows the question confirms what holds already.
    expect(providers.confirmAddress('Groq', origin).confirmation).toBeNull();
    providers.setBaseAddress('Groq', null);
    expect(confirmationOf(providers, 'Groq')).toMatchObject({ keyOrigin: origin });
  });

  it("stays with the old key if a new one can't be saved", () => {
    const providers = world.open();
    providers.setKey('Groq', 'old');
    providers.setBaseAddress('Groq', other);
    vi.spyOn(world.keyStore, 'write').mockImplementation(() => {
      throw new AppError('provider_not_configured', 'The keychain is locked.');
    });
    expect(rejectionOf(() => providers.setKey('Groq', 'new')).message).toBe('The keychain is locked.');
    expect(confirmationOf(providers, 'Groq')).toMatchObject({ keyOrigin: 'https://api.groq.com' });
  });

  it('does not change with a redirect, which fails without a call to the other host', async () => {
    const target = await startScriptedProvider();
    world.server.answerWith((call) => call.json(307, {}, { location: `${target.baseAddress}/models` }));
    const providers = world.open();
    providers.addEndpoint({ name: 'gateway', baseAddress: world.server.baseAddress, key: 'k' });
    const tested = await providers.testEndpoint('gateway', { signal: noAbort() });
    const calls = target.calls.length;
    await target.close();
    expect([tested.lastTest?.outcome, calls]).toEqual(['failed', 0]);
  });
});

describe('an endpoint without a key', () => {
  const outside = 'https://models.example/v1';
  const unconfirmed = { origin: 'https://models.example', keyOrigin: null, keySource: null };

  it('from a restored or foreign database gets nothing before its address is confirmed, once', async () => {
    world.storage.providerCache.addEndpoint({ name: 'gateway', baseAddress: outside });
    world.storage.providerCache.addUserModel('OpenAiCompatible', 'gateway/m');
    const providers = world.open();
    expect(providers.endpoints()[0]?.confirmation).toEqual(unconfirmed);
    expect(rejectionOf(() => providers.resolve('OpenAiCompatible', 'gateway/m'))).toMatchObject({
      code: 'provider_not_configured',
      message:
        'Nothing is sent to https://models.example, the address of "gateway", because it hasn\'t been confirmed on this device. ' +
        'Check the address in Settings, Compatible endpoints.',
    });
    expect(providers.models().find(({ name }) => name === 'gateway/m')?.isReady).toBe(false);
    await expect(providers.testEndpoint('gateway', { signal: noAbort() })).rejects.toThrow('confirmed');
    providers.confirmEndpoint('gateway', 'https://models.example');
    expect(providers.resolve('OpenAiCompatible', 'gateway/m').servedBy).toBe('OpenAiCompatible/gateway/m');
    expect(world.open().endpoints()[0]?.confirmation).toBeNull();
  });

  it('on this device, of the command line, or entered in the window needs no confirmation', () => {
    world.storage.providerCache.addEndpoint({ name: 'local', baseAddress: 'http://localhost:11434/v1' });
    const providers = world.open({ endpointOverrides: [{ name: 'typed', baseAddress: outside }] });
    providers.addEndpoint({ name: 'added', baseAddress: 'http://192.0.2.7:8000/v1' });
    expect(providers.endpoints().map(({ confirmation }) => confirmation)).toEqual([null, null, null]);
    world.storage.providerCache.setEndpointAddress('added', outside);
    expect(providers.endpoints()[0]?.confirmation).toEqual(unconfirmed);
    expect(providers.updateEndpoint('added', { baseAddress: outside }).confirmation).toBeNull();
  });

  it('needs a confirmation again after it was removed, or its address changed', () => {
    const providers = world.open();
    providers.addEndpoint({ name: 'gateway', baseAddress: outside });
    providers.updateEndpoint('gateway', { baseAddress: 'https://other.example' });
    world.storage.providerCache.setEndpointAddress('gateway', outside);
    expect(providers.endpoints()[0]?.confirmation).toEqual(unconfirmed);
    providers.confirmEndpoint('gateway', unconfirmed.origin);
    providers.removeEndpoint('gateway');
    world.storage.providerCache.addEndpoint({ name: 'gateway', baseAddress: outside });
    expect(providers.endpoints()[0]?.confirmation).toEqual(unconfirmed);
  });

  it('stays unconfirmed when a key for another address is removed from it', () => {
    const providers = world.open();
    providers.addEndpoint({ name: 'gateway', baseAddress: other, key: 'k' });
    world.storage.providerCache.setEndpointAddress('gateway', outside);
    expect(providers.updateEndpoint('gateway', { key: null }).confirmation).toEqual(unconfirmed);
  });
});

describe('a provider without a key', () => {
  const outside = 'https://models.example/v1';
  const unconfirmed = { origin: 'https://models.example', keyOrigin: null, keySource: null };
  const confirmationOf = (providers: ReturnType<typeof world.open>) =>
    providers.providerStates().find(({ aiSystem }) => aiSystem === 'Groq')!.confirmation;

  it('gets nothing at an address of a restored or foreign database before it is confirmed', () => {
    world.storage.providerCache.setBaseAddress('Groq', outside);
    const providers = world.open();
    expect(confirmationOf(providers)).toEqual(unconfirmed);
    expect(rejectionOf(() => providers.provider('Groq')).message).toContain("hasn't been confirmed");
    expect(providers.confirmAddress('Groq', unconfirmed.origin).confirmation).toBeNull();
    expect(rejectionOf(() => providers.provider('Groq')).message).toContain('no API key');
    expect(confirmationOf(world.open())).toBeNull();
  });

  it('needs no confirmation for an address that was entered, until that changed', () => {
    const providers = world.open();
    expect(providers.setBaseAddress('Groq', outside).confirmation).toBeNull();
    providers.addEndpoint({ name: 'gateway', baseAddress: outside });
    providers.removeEndpoint('gateway');
    expect(confirmationOf(providers)).toBeNull();
    expect(providers.setBaseAddress('Groq', null).confirmation).toBeNull();
    world.storage.providerCache.setBaseAddress('Groq', outside);
    expect(confirmationOf(providers)).toEqual(unconfirmed);
  });
});
