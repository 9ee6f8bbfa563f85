import { describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../shared/app-error.ts';
import { model as modelSchema } from '../../../shared/contract/providers.ts';
import { modelRequest, noAbort } from '../../support/provider-calls.ts';
import { rejectionOf, useProvidersWorld } from '../../support/providers-world.ts';
import { startScriptedProvider } from '../../support/scripted-provider.ts';

const world = useProvidersWorld();

describe('compatible endpoints', () => {
  it('answer under their names, with a key or without', async () => {
    world.server.answerWith((call) => call.chatAnswer({ content: 'from here' }));
    const providers = world.open({
      endpointOverrides: [{ name: 'bench', baseAddress: `${world.server.baseAddress}/` }],
    });
    const { provider, model, servedBy } = providers.resolve('OpenAiCompatible', 'bench/org/model-7b');
    expect([model, servedBy]).toEqual(['org/model-7b', 'OpenAiCompatible/bench/org/model-7b']);
    const answer = await provider.generate(modelRequest(model), { signal: noAbort() });
    expect([answer.content, world.server.calls[0]!.headers.authorization]).toEqual(['from here', undefined]);
  });

  it('are added, changed, tested and removed', async () => {
    world.server.answerWith((call) => call.models(['llama3.2', 'nomic-embed-text']));
    const providers = world.open();
    expect(providers.addEndpoint({ name: 'Home', baseAddress: world.server.baseAddress, key: 'k1' })).toEqual({
      name: 'Home',
      baseAddress: world.server.baseAddress,
      keySource: 'memory',
      keyFailure: null,
      confirmation: null,
      lastTest: null,
    });
    expect(rejectionOf(() => providers.addEndpoint({ name: 'home', baseAddress: 'http://127.0.0.1:1' })).code).toBe(
      'conflict',
    );
    const tested = await providers.testEndpoint('home', { signal: noAbort() });
    expect(tested.lastTest).toMatchObject({ outcome: 'ok', models: 1 });
    expect(world.server.calls[0]!.headers.authorization).toBe('Bearer k1');
    expect(providers.resolve('OpenAiCompatible', 'home/llama3.2').servedBy).toBe('OpenAiCompatible/Home/llama3.2');
    const refusal = rejectionOf(() => providers.resolve('OpenAiCompatible', 'Home/llama3'));
    expect(refusal.details).toEqual([
      { field: 'model', issue: 'is not a model of the endpoint Home; did you mean: Home/llama3.2' },
    ]);
    expect(providers.updateEndpoint('Home', { key: null }).keySource).toBeNull();
    providers.removeEndpoint('Home');
    expect([providers.endpoints(), world.keyStore.read('endpoint:Home')]).toEqual([[], null]);
    expect(rejectionOf(() => providers.resolve('OpenAiCompatible', 'Home/llama3.2')).code).toBe('invalid_request');
    expect(rejectionOf(() => providers.removeEndpoint('Home')).code).toBe('not_found');
  });

  it('do not pass their key to a later endpoint of the same name', () => {
    const providers = world.open();
    providers.addEndpoint({ name: 'Home', baseAddress: world.server.baseAddress, key: 'k1' });
    providers.removeEndpoint('Home');
    expect(providers.addEndpoint({ name: 'Home', baseAddress: 'http://127.0.0.1:1/v1' }).keySource).toBeNull();
  });

  it.each(['endpoint:gateway', 'endpoint:gateway origin', 'address https://models.test'])(
    'are unchanged if the keychain fails at "%s", and can be added again',
    (failing) => {
      const providers = world.open();
      const { write } = world.keyStore;
      const lock = () =>
        vi.spyOn(world.keyStore, 'write').mockImplementation((account, secret) => {
          if (account === failing) throw new AppError('provider_not_configured', 'The keychain is locked.');
          write(account, secret);
        });
      const endpoint = { name: 'gateway', baseAddress: 'https://models.test/v1', key: 'k' };
      const locked = lock();
      expect(rejectionOf(() => providers.addEndpoint(endpoint)).message).toBe('The keychain is locked.');
      expect(providers.endpoints()).toEqual([]);
      expect(world.keyStore.read('address https://models.test')).toBeNull();
      locked.mockRestore();
      expect(providers.addEndpoint(endpoint)).toMatchObject({ keySource: 'memory', confirmation: null });
    },
  );

  it('and providers stay at their address if a new one could not be confirmed', () => {
    const providers = world.open();
    const baseAddress = 'https://models.test/v1';
    providers.addEndpoint({ name: 'gateway', baseAddress, key: 'k' });
    const before = [providers.endpoints(), providers.providerStates()];
    vi.spyOn(world.keyStore, 'write').mockImplementation(() => {
      throw new AppError('provider_not_configured', 'The keychain is locked.');
    });
    const other = 'https://other.test/v1';
    expect(() => providers.updateEndpoint('gateway', { baseAddress: other, key: 'new' })).toThrow('locked');
    expect(() => providers.setBaseAddress('Groq', other)).toThrow('locked');
    expect([providers.endpoints(), providers.providerStates()]).toEqual(before);
  });

  it('have the prices that a user sets, until they are removed', () => {
    const providers = world.open();
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 500_000, total_tokens: 1_500_000 };
    const cost = (model: string) =>
      providers.cost(providers.resolve('OpenAiCompatible', model), usage, null)?.amount ?? null;
    providers.addEndpoint({ name: 'Home', baseAddress: world.server.baseAddress });
    providers.addEndpoint({ name: 'Homestead', baseAddress: world.server.baseAddress });
    providers.addModel('OpenAiCompatible', 'Home/qwen');
    expect(cost('home/qwen')).toBeNull();
    const price = { model: 'Home/qwen', inputPrice: 0.5, outputPrice: 2 };
    const neighbour = { model: 'Homestead/qwen', inputPrice: 0, outputPrice: 0 };
    world.storage.settings.update({ endpointPrices: [price, neighbour] });
    expect([cost('home/qwen'), cost('Homestead/qwen'), cost('Home/other')]).toEqual([1.5, 0, null]);
    expect(providers.models().find(({ name }) => name === 'Home/qwen')).toMatchObject({
      inputPrice: 0.5,
      outputPrice: 2,
    });
    providers.removeEndpoint('home');
    expect(world.storage.settings.read().endpointPrices).toEqual([neighbour]);
  });

  it("of the command line can't be changed or removed", () => {
    const providers = world.open({ endpointOverrides: [{ name: 'bench', baseAddress: world.server.baseAddress }] });
    expect(rejectionOf(() => providers.updateEndpoint('bench', { baseAddress: 'http://127.0.0.1:1' })).code).toBe(
      'conflict',
    );
    expect(rejectionOf(() => providers.removeEndpoint('bench')).code).toBe('conflict');
  });

  it('explain the fix if there is none, and list existing ones', () => {
    const providers = world.open();
    expect(rejectionOf(() => providers.resolve('OpenAiCompatible', 'x/y')).message).toContain('add one in Settings');
    providers.addEndpoint({ name: 'ollama', baseAddress: world.server.baseAddress });
    expect(rejectionOf(() => providers.resolve('OpenAiCompatible', 'olama/y')).message).toContain('endpoints: ollama');
    expect(rejectionOf(() => providers.resolve('OpenAiCompatible', 'ollama/')).code).toBe('invalid_request');
  });

  it('on this machine are detected unless they are already added', async () => {
    world.server.answerWith((call) => call.models(['a', 'b']));
    const removed = await startScriptedProvider();
    await removed.close();
    const providers = world.open({
      wellKnownEndpoints: [
        { name: 'ollama', baseAddress: world.server.baseAddress },
        { name: 'vllm', baseAddress: removed.baseAddress },
      ],
    });
    expect(await providers.findLocalEndpoints({ signal: noAbort() })).toEqual([
      { name: 'ollama', baseAddress: world.server.baseAddress, models: 2 },
    ]);
    providers.addEndpoint({ name: 'mine', baseAddress: world.server.baseAddress });
    expect(await providers.findLocalEndpoints({ signal: noAbort() })).toEqual([]);
  });
});

describe('the list of models', () => {
  it("has the contract's format and every provider", () => {
    const models = world.open().models();
    expect(models.map((model) => modelSchema.parse(model))).toEqual(models);
    expect(new Set(models.map(({ aiSystem }) => aiSystem))).toEqual(
      new Set(['ServiceAi', 'OpenAi', 'Anthropic', 'GoogleGemini', 'Groq', 'Cohere']),
    );
    expect(models.some(({ isReady }) => isReady)).toBe(false);
  });

  it('fetches the lists of providers with a key automatically, once', async () => {
    world.server.answerWith((call) =>
      call.json(200, { models: [{ name: 'command-z', endpoints: ['chat'], context_length: 9000 }] }),
    );
    const providers = world.open({
      environment: { COHERE_API_KEY: 'k' },
      baseOverrides: { Cohere: world.server.baseAddress },
    });
    providers.models();
    providers.models();
    await expect.poll(() => providers.models().some(({ name }) => name === 'command-z')).toBe(true);
    expect(world.server.calls.length).toBe(1);
  });

  it('takes names that a person adds, and gives them back', () => {
    const providers = world.open({ environment: { OPENAI_API_KEY: 'k' } });
    expect(providers.addModel('OpenAi', 'ft:gpt-4o:me')).toMatchObject({
      name: 'ft:gpt-4o:me',
      origin: 'user',
      isReady: true,
    });
    expect(providers.resolve('OpenAi', 'ft:gpt-4o:me').servedBy).toBe('OpenAi/ft:gpt-4o:me');
    expect(rejectionOf(() => providers.addModel('OpenAi', 'ft:gpt-4o:me')).code).toBe('conflict');
    expect(rejectionOf(() => providers.addModel('OpenAi', 'gpt-4o')).code).toBe('conflict');
    expect(rejectionOf(() => providers.addModel('ServiceAi', 'x')).code).toBe('invalid_request');
    expect(rejectionOf(() => providers.addModel('OpenAiCompatible', 'x')).code).toBe('invalid_request');
    providers.removeModel('OpenAi', 'ft:gpt-4o:me');
    expect(rejectionOf(() => providers.resolve('OpenAi', 'ft:gpt-4o:me')).code).toBe('invalid_request');
    expect(rejectionOf(() => providers.removeModel('OpenAi', 'gpt-4o')).code).toBe('not_found');
  });
});
