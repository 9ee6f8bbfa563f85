import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { keyedProviders } from '../../../shared/contract/common.ts';
import { providerState } from '../../../shared/contract/providers.ts';
import { failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { rejectionOf, useProvidersWorld } from '../../support/providers-world.ts';

const world = useProvidersWorld();

describe('keys', () => {
  it('of the key store take precedence over the environment, until they are removed', async () => {
    world.server.answerWith((call) => call.json(401, {}));
    const providers = world.open({
      environment: { GROQ_API_KEY: 'from-environment' },
      baseOverrides: { Groq: world.server.baseAddress },
    });
    const source = () => providers.providerStates().find(({ aiSystem }) => aiSystem === 'Groq')?.keySource;
    const sent = async () => {
      const { provider } = providers.resolve('Groq', 'llama-3.1-8b-instant');
      await failureOf(provider.generate(modelRequest('llama-3.1-8b-instant'), { signal: noAbort() }));
      return world.server.calls.at(-1)!.headers.authorization;
    };
    expect([source(), await sent()]).toEqual(['environment', 'Bearer from-environment']);
    providers.setKey('Groq', 'from-store');
    expect([source(), await sent()]).toEqual(['memory', 'Bearer from-store']);
    providers.removeKey('Groq');
    expect([source(), await sent()]).toEqual(['environment', 'Bearer from-environment']);
  });

  it('are read from the key store once', () => {
    const read = vi.spyOn(world.keyStore, 'read');
    world.keyStore.write('OpenAi', 'k');
    const providers = world.open();
    for (const name of ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1']) providers.resolve('OpenAi', name);
    providers.providerStates();
    providers.providerStates();
    expect(read.mock.calls.filter(([account]) => account === 'OpenAi')).toHaveLength(1);
  });

  it('that are locked leave the models of this device and of other providers in the list', () => {
    const { read: readKey } = world.keyStore;
    world.keyStore.write('Groq', 'k');
    world.storage.providerCache.addEndpoint({ name: 'gateway', baseAddress: 'https://models.test/v1' });
    const failure = new AppError('provider_not_configured', 'The keychain is locked.');
    const read = vi.spyOn(world.keyStore, 'read').mockImplementation((account) => {
      if (!account.startsWith('Groq')) throw failure;
      return readKey(account);
    });
    const providers = world.open({ environment: { OPENAI_API_KEY: 'k' } });
    const readySystems = () => providers.models().flatMap(({ aiSystem, isReady }) => (isReady ? aiSystem : []));
    expect(new Set(readySystems())).toEqual(new Set(['Groq']));
    expect(providers.models().some(({ aiSystem }) => aiSystem === 'ServiceAi')).toBe(true);
    expect(providers.providerStates().map(({ keySource }) => keySource)).toEqual(
      keyedProviders.map((name) => (name === 'Groq' ? 'memory' : null)),
    );
    expect(providers.providerStates().map(({ keyFailure }) => keyFailure)).toEqual(
      keyedProviders.map((name) => (name === 'Groq' ? null : failure.message)),
    );
    expect(providers.endpoints()).toMatchObject([{ name: 'gateway', keySource: null, keyFailure: failure.message }]);
    // A keychain may open a dialog each time.
    expect(read.mock.calls.filter(([account]) => account === 'OpenAi')).toHaveLength(1);
    expect(rejectionOf(() => providers.resolve('OpenAi', 'gpt-4o'))).toBe(failure);
    read.mockRestore();
    providers.resolve('OpenAi', 'gpt-4o');
    expect(new Set(readySystems())).toEqual(new Set(['Groq', 'OpenAi']));
    expect(providers.providerStates().find(({ aiSystem }) => aiSystem === 'OpenAi')).toMatchObject({
      keySource: 'environment',
      keyFailure: null,
    });
  });

  it('that a test could not read are not read again for the next list', async () => {
    const failure = new AppError('provider_not_configured', 'The keychain is locked.');
    const read = vi.spyOn(world.keyStore, 'read').mockImplementation(() => {
      throw failure;
    });
    const providers = world.open();
    providers.providerStates();
    const now = performance.now() + 60_000;
    vi.spyOn(performance, 'now').mockReturnValue(now);
    expect(await failureOf(providers.test('OpenAi', { signal: noAbort() }))).toBe(failure);
    providers.providerStates();
    vi.restoreAllMocks();
    expect(read.mock.calls.filter(([account]) => account === 'OpenAi')).toHaveLength(2);
  });

  it('are in no other file', async () => {
    const key = 'sk-secret-0123456789abcdef';
    world.server.answerWith((call) => call.fail(400, `bad ${key}`));
    const providers = world.open({ baseOverrides: { OpenAi: world.server.baseAddress } });
    providers.setKey('OpenAi', key);
    const state = await providers.test('OpenAi', { signal: noAbort() });
    const shown = JSON.stringify([state, providers.providerStates(), providers.models(), providers.endpoints()]);
    expect(shown).not.toContain('0123456789abcdef');
    expect(providerState.parse(state)).toEqual(state);
  });
});

describe('testing a key', () => {
  it('stores the list, so that new names are valid and dates are current', async () => {
    world.server.answerWith((call) =>
      call.json(200, {
        data: [
          { id: 'gpt-7-nova', object: 'model', shutdown_date: null },
          { id: 'gpt-4o', object: 'model', shutdown_date: '2027-02-02' },
          { id: 'text-embedding-9', object: 'model' },
        ],
      }),
    );
    const providers = world.open({
      environment: { OPENAI_API_KEY: 'k' },
      baseOverrides: { OpenAi: world.server.baseAddress },
    });
    rejectionOf(() => providers.resolve('OpenAi', 'gpt-7-nova'));
    const { lastTest } = await providers.test('OpenAi', { signal: noAbort() });
    expect(lastTest).toMatchObject({ outcome: 'ok', models: 2, status: 200, message: null });
    expect(providers.resolve('OpenAi', 'gpt-7-nova').servedBy).toBe('OpenAi/gpt-7-nova');
    const listed = providers.models().filter(({ name }) => name === 'gpt-7-nova' || name === 'gpt-4o');
    expect(
      listed.map(({ name, origin, shutdownDate, inputPrice }) => [name, origin, shutdownDate, inputPrice]),
    ).toEqual([
      ['gpt-7-nova', 'provider', null, null],
      ['gpt-4o', 'catalogue', '2027-02-02', 2.5],
    ]);
  });

  it.each([
    ['refused', 401, 401],
    ['failed', 500, 500],
    ['failed', 429, 429],
  ])('returns %s for a response with %i', async (outcome, answer, status) => {
    world.server.answerWith((call) => call.fail(answer, 'no'));
    const providers = world.open({
      environment: { COHERE_API_KEY: 'k' },
      baseOverrides: { Cohere: world.server.baseAddress },
    });
    const { lastTest } = await providers.test('Cohere', { signal: noAbort() });
    expect(lastTest).toMatchObject({ outcome, status, models: 0, message: expect.any(String) });
  });

  it('returns unreachable for an address without a listener, and stores it', async () => {
    await world.server.close();
    const providers = world.open();
    providers.setBaseAddress('Cohere', world.server.baseAddress);
    providers.setKey('Cohere', 'k');
    await providers.test('Cohere', { signal: noAbort() });
    const state = providers.providerStates().find(({ aiSystem }) => aiSystem === 'Cohere');
    expect(state).toMatchObject({ isBaseAddressDefault: false, lastTest: { outcome: 'unreachable', status: null } });
  });

  it('returns failed for a page that is no list', async () => {
    world.server.answerWith((call) => call.head(200).end('<html>'));
    const providers = world.open({
      environment: { COHERE_API_KEY: 'k' },
      baseOverrides: { Cohere: world.server.baseAddress },
    });
    expect((await providers.test('Cohere', { signal: noAbort() })).lastTest).toMatchObject({
      outcome: 'failed',
      status: 200,
    });
  });

  it('leaves nothing behind if it is aborted', async () => {
    const providers = world.open({
      environment: { COHERE_API_KEY: 'k' },
      baseOverrides: { Cohere: world.server.baseAddress },
    });
    const stop = new AbortController();
    const test = failureOf(providers.test('Cohere', { signal: stop.signal }));
    const call = await world.server.nextCall();
    stop.abort();
    expect((await test).name).toBe('AbortError');
    await call.closed;
    expect(world.storage.providerCache.lastTest('Cohere')).toBeNull();
  });

  it('without a key says where to set one', async () => {
    expect(await failureOf(world.open().test('Groq', { signal: noAbort() }))).toMatchObject({
      code: 'provider_not_configured',
    });
  });
});
