import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { model as modelSchema, providerState } from '../../../shared/contract/providers.ts';
import { createMemoryKeyStore } from '../../../electron/key-store/memory-key-store.ts';
import type { KeyStore } from '../../../electron/key-store/key-store.ts';
import { createOnDeviceLanguageModels } from '../../../electron/on-device/create-language-models.ts';
import type { OnDeviceLanguageModels } from '../../../electron/on-device/language-model.ts';
import {
  createProviders,
  type Providers,
  type ProvidersOptions,
} from '../../../electron/providers/create-providers.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { AppError } from '../../../shared/app-error.ts';
import { failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { startScriptedProvider, type ScriptedProvider } from '../../support/scripted-provider.ts';

let directory: string;
let storage: Storage;
let keyStore: KeyStore;
let onDevice: OnDeviceLanguageModels;
let server: ScriptedProvider;
const opened: Providers[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'touchstone-providers-'));
  storage = openStorage({ directory });
  keyStore = createMemoryKeyStore();
  onDevice = createOnDeviceLanguageModels({
    directory: join(directory, 'models'),
    settings: storage.settings,
    registryAddress: 'http://127.0.0.1:1',
    log: () => {},
  });
  server = await startScriptedProvider();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((providers) => providers.close()));
  await onDevice.close();
  await storage.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
  vi.useRealTimers();
});

function open(options: Partial<ProvidersOptions> = {}): Providers {
  const providers = createProviders({
    memory: storage.providerMemory,
    keyStore,
    environment: {},
    baseOverrides: {},
    endpointOverrides: [],
    settings: storage.settings,
    onDevice,
    wellKnownEndpoints: [],
    ...options,
  });
  opened.push(providers);
  return providers;
}

function refusalOf(call: () => unknown): AppError {
  try {
    call();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('It was expected to be refused.');
}

describe('resolving a model', () => {
  it('gives the provider, its own name for the model and what is recorded', async () => {
    server.answerWith((call) => call.json(401, {}));
    const providers = open({
      environment: { OPENAI_API_KEY: 'k1' },
      baseOverrides: { OpenAi: `${server.baseAddress}/` },
    });
    const { provider, model, servedBy, catalogueEntry } = providers.resolve('OpenAi', 'gpt-4o');
    expect([model, servedBy, catalogueEntry?.inputPrice]).toEqual(['gpt-4o', 'OpenAi/gpt-4o', 2.5]);
    await failureOf(provider.generate(modelRequest(model), { signal: noAbort() }));
    expect([server.calls[0]?.path, server.calls[0]?.headers.authorization]).toEqual(['/v1/responses', 'Bearer k1']);
  });

  it('is the same object until something changes', () => {
    const providers = open({ environment: { OPENAI_API_KEY: 'k1' } });
    const first = providers.resolve('OpenAi', 'gpt-4o');
    expect(providers.resolve('OpenAi', 'gpt-4o')).toBe(first);
    providers.setKey('OpenAi', 'k2');
    expect(providers.resolve('OpenAi', 'gpt-4o')).not.toBe(first);
  });

  it('refuses an unknown model and names the nearest ones', () => {
    const error = refusalOf(() => open().resolve('OpenAi', 'gpt-4o-mimi'));
    expect([error.code, error.details]).toEqual([
      'invalid_request',
      [{ field: 'model', issue: 'is not a model of OpenAI; nearest: gpt-4o-mini, gpt-4.1-mini, gpt-5-mini' }],
    ]);
  });

  it("says whose model it is when it is another provider's", () => {
    const providers = open();
    expect(refusalOf(() => providers.resolve('OpenAi', 'claude-opus-5-5')).message).toContain(
      'It is a model of Anthropic (aiSystem Anthropic).',
    );
    expect(refusalOf(() => providers.resolve('Groq', 'hl-gpt-4o-mini')).message).toContain('aiSystem ServiceAi');
    expect(refusalOf(() => providers.resolve('ServiceAi', 'gpt-4o')).message).toContain('aiSystem OpenAi');
  });

  it('stays quick with a name of four megabytes', () => {
    const error = refusalOf(() => open().resolve('OpenAi', 'x'.repeat(4_000_000)));
    expect(error.message.length).toBeLessThan(1000);
  });

  it.each(['constructor', '__proto__', 'toString', ''])('refuses %j as any other unknown name', (name) => {
    const providers = open({ environment: { OPENAI_API_KEY: 'k' } });
    for (const aiSystem of ['OpenAi', 'ServiceAi', 'OpenAiCompatible'] as const) {
      expect(refusalOf(() => providers.resolve(aiSystem, name)).code).toBe('invalid_request');
    }
  });

  it('says where to set a key that is missing', () => {
    const error = refusalOf(() => open().resolve('GoogleGemini', 'gemini-4-argon'));
    expect([error.code, error.message]).toEqual([
      'provider_not_configured',
      'Google Gemini has no key yet. Set one in Settings, Providers and keys, or in the environment variable GEMINI_API_KEY.',
    ]);
  });

  it.each([
    ['OpenAi', ['gpt-4o', 'gpt-4o-mini', 'gpt-4-turbo', 'gpt-3.5-turbo']],
    ['Anthropic', ['claude-3-opus-20240229', 'claude-3-sonnet-20240229', 'claude-3-haiku-20240307']],
    ['GoogleGemini', ['gemini-pro', 'gemini-1.5-pro']],
    ['Groq', ['llama3-70b-8192', 'mixtral-8x7b-32768']],
    ['ServiceAi', ['hl-gpt-4o-mini', 'hl-gpt-4.1-mini']],
  ] as const)('knows every model that the specification names for %s', (aiSystem, names) => {
    const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', GROQ_API_KEY: 'k' };
    const providers = open({ environment });
    for (const name of names) expect(providers.resolve(aiSystem, name).provider).toBeDefined();
  });
});

describe("the service's own models", () => {
  it('are answered on this device by default, without any key', () => {
    const { servedBy, provider } = open().resolve('ServiceAi', 'hl-gpt-4o-mini');
    expect([servedBy, provider]).toEqual([`on-device/${onDevice.selectedFileName()}`, onDevice.provider]);
  });

  it('go where the settings say, from the next run on', () => {
    const providers = open({ environment: { GROQ_API_KEY: 'k' } });
    providers.resolve('ServiceAi', 'hl-gpt-4.1-mini');
    const route = { kind: 'provider', aiSystem: 'Groq', model: 'openai/gpt-oss-20b' } as const;
    storage.settings.update({ serviceRoutes: { ...storage.settings.read().serviceRoutes, 'hl-gpt-4.1-mini': route } });
    const target = providers.resolve('ServiceAi', 'hl-gpt-4.1-mini');
    expect([target.servedBy, target.model]).toEqual(['Groq/openai/gpt-oss-20b', 'openai/gpt-oss-20b']);
    expect(providers.models().find(({ name }) => name === 'hl-gpt-4.1-mini')).toMatchObject({
      servedBy: 'Groq/openai/gpt-oss-20b',
      isReady: true,
      contextTokens: 131072,
    });
  });

  it('say what is missing where they go', () => {
    const route = { kind: 'provider', aiSystem: 'Cohere', model: 'command-a-03-2025' } as const;
    storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
    const error = refusalOf(() => open().resolve('ServiceAi', 'hl-gpt-4o-mini'));
    expect([error.code, error.message.includes('COHERE_API_KEY')]).toEqual(['provider_not_configured', true]);
  });
});

describe('keys', () => {
  it('of the key store win over the environment, and give way to it when removed', async () => {
    server.answerWith((call) => call.json(401, {}));
    const providers = open({
      environment: { GROQ_API_KEY: 'from-environment' },
      baseOverrides: { Groq: server.baseAddress },
    });
    const source = () => providers.providerStates().find(({ aiSystem }) => aiSystem === 'Groq')?.keySource;
    const sent = async () => {
      const { provider } = providers.resolve('Groq', 'llama-3.1-8b-instant');
      await failureOf(provider.generate(modelRequest('llama-3.1-8b-instant'), { signal: noAbort() }));
      return server.calls.at(-1)!.headers.authorization;
    };
    expect([source(), await sent()]).toEqual(['environment', 'Bearer from-environment']);
    providers.setKey('Groq', 'from-store');
    expect([source(), await sent()]).toEqual(['memory', 'Bearer from-store']);
    providers.removeKey('Groq');
    expect([source(), await sent()]).toEqual(['environment', 'Bearer from-environment']);
  });

  it('are read from the key store once', () => {
    const read = vi.spyOn(keyStore, 'read');
    keyStore.write('OpenAi', 'k');
    const providers = open();
    for (const name of ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1']) providers.resolve('OpenAi', name);
    providers.providerStates();
    providers.providerStates();
    expect(read.mock.calls.filter(([account]) => account === 'OpenAi')).toHaveLength(1);
  });

  it('are in nothing that leaves this folder', async () => {
    const key = 'sk-secret-0123456789abcdef';
    server.answerWith((call) => call.fail(400, `bad ${key}`));
    const providers = open({ baseOverrides: { OpenAi: server.baseAddress } });
    providers.setKey('OpenAi', key);
    const state = await providers.test('OpenAi', { signal: noAbort() });
    const shown = JSON.stringify([state, providers.providerStates(), providers.models(), providers.endpoints()]);
    expect(shown).not.toContain('0123456789abcdef');
    expect(providerState.parse(state)).toEqual(state);
  });
});

describe('testing a key', () => {
  it('keeps the list, so that new names are valid and dates are current', async () => {
    server.answerWith((call) =>
      call.json(200, {
        data: [
          { id: 'gpt-7-nova', object: 'model', shutdown_date: null },
          { id: 'gpt-4o', object: 'model', shutdown_date: '2027-02-02' },
          { id: 'text-embedding-9', object: 'model' },
        ],
      }),
    );
    const providers = open({ environment: { OPENAI_API_KEY: 'k' }, baseOverrides: { OpenAi: server.baseAddress } });
    refusalOf(() => providers.resolve('OpenAi', 'gpt-7-nova'));
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
  ])('finds %s for an answer with %i', async (outcome, answer, status) => {
    server.answerWith((call) => call.fail(answer, 'no'));
    const providers = open({ environment: { COHERE_API_KEY: 'k' }, baseOverrides: { Cohere: server.baseAddress } });
    const { lastTest } = await providers.test('Cohere', { signal: noAbort() });
    expect(lastTest).toMatchObject({ outcome, status, models: 0, message: expect.any(String) });
  });

  it('finds unreachable for an address where no one listens, and remembers it', async () => {
    await server.close();
    const providers = open({ environment: { COHERE_API_KEY: 'k' } });
    providers.setBaseAddress('Cohere', server.baseAddress);
    await providers.test('Cohere', { signal: noAbort() });
    const state = providers.providerStates().find(({ aiSystem }) => aiSystem === 'Cohere');
    expect(state).toMatchObject({ isBaseAddressDefault: false, lastTest: { outcome: 'unreachable', status: null } });
  });

  it('finds failed for a page that is no list', async () => {
    server.answerWith((call) => call.head(200).end('<html>'));
    const providers = open({ environment: { COHERE_API_KEY: 'k' }, baseOverrides: { Cohere: server.baseAddress } });
    expect((await providers.test('Cohere', { signal: noAbort() })).lastTest).toMatchObject({
      outcome: 'failed',
      status: 200,
    });
  });

  it('leaves nothing behind when it is stopped', async () => {
    const providers = open({ environment: { COHERE_API_KEY: 'k' }, baseOverrides: { Cohere: server.baseAddress } });
    const stop = new AbortController();
    const test = failureOf(providers.test('Cohere', { signal: stop.signal }));
    const call = await server.nextCall();
    stop.abort();
    expect((await test).name).toBe('AbortError');
    await call.closed;
    expect(storage.providerMemory.lastTest('Cohere')).toBeNull();
  });

  it('without a key says where to set one', async () => {
    expect(await failureOf(open().test('Groq', { signal: noAbort() }))).toMatchObject({
      code: 'provider_not_configured',
    });
  });
});

describe('compatible endpoints', () => {
  it('answer under their names, with a key or without', async () => {
    server.answerWith((call) => call.chatAnswer({ content: 'from here' }));
    const providers = open({ endpointOverrides: [{ name: 'bench', baseAddress: `${server.baseAddress}/` }] });
    const { provider, model, servedBy } = providers.resolve('OpenAiCompatible', 'bench/org/model-7b');
    expect([model, servedBy]).toEqual(['org/model-7b', 'OpenAiCompatible/bench/org/model-7b']);
    const answer = await provider.generate(modelRequest(model), { signal: noAbort() });
    expect([answer.content, server.calls[0]!.headers.authorization]).toEqual(['from here', undefined]);
  });

  it('are added, changed, tested and removed', async () => {
    server.answerWith((call) => call.models(['llama3.2', 'nomic-embed-text']));
    const providers = open();
    expect(providers.addEndpoint({ name: 'Home', baseAddress: server.baseAddress, key: 'k1' })).toEqual({
      name: 'Home',
      baseAddress: server.baseAddress,
      keySource: 'memory',
      lastTest: null,
    });
    expect(refusalOf(() => providers.addEndpoint({ name: 'home', baseAddress: 'http://127.0.0.1:1' })).code).toBe(
      'conflict',
    );
    const tested = await providers.testEndpoint('home', { signal: noAbort() });
    expect(tested.lastTest).toMatchObject({ outcome: 'ok', models: 1 });
    expect(server.calls[0]!.headers.authorization).toBe('Bearer k1');
    expect(providers.resolve('OpenAiCompatible', 'home/llama3.2').servedBy).toBe('OpenAiCompatible/Home/llama3.2');
    const refusal = refusalOf(() => providers.resolve('OpenAiCompatible', 'Home/llama3'));
    expect(refusal.details).toEqual([
      { field: 'model', issue: 'is not a model of the endpoint Home; nearest: Home/llama3.2' },
    ]);
    expect(providers.updateEndpoint('Home', { key: null }).keySource).toBeNull();
    providers.removeEndpoint('Home');
    expect([providers.endpoints(), keyStore.read('endpoint:Home')]).toEqual([[], null]);
    expect(refusalOf(() => providers.resolve('OpenAiCompatible', 'Home/llama3.2')).code).toBe('invalid_request');
    expect(refusalOf(() => providers.removeEndpoint('Home')).code).toBe('not_found');
  });

  it('do not give their key to an endpoint that takes their name later', () => {
    const providers = open();
    providers.addEndpoint({ name: 'Home', baseAddress: server.baseAddress, key: 'k1' });
    providers.removeEndpoint('Home');
    expect(providers.addEndpoint({ name: 'Home', baseAddress: 'http://127.0.0.1:1/v1' }).keySource).toBeNull();
  });

  it('of the command line cannot be changed or removed', () => {
    const providers = open({ endpointOverrides: [{ name: 'bench', baseAddress: server.baseAddress }] });
    expect(refusalOf(() => providers.updateEndpoint('bench', { baseAddress: 'http://127.0.0.1:1' })).code).toBe(
      'conflict',
    );
    expect(refusalOf(() => providers.removeEndpoint('bench')).code).toBe('conflict');
  });

  it('tell what to do when there is none, and which there are', () => {
    const providers = open();
    expect(refusalOf(() => providers.resolve('OpenAiCompatible', 'x/y')).message).toContain('add one in Settings');
    providers.addEndpoint({ name: 'ollama', baseAddress: server.baseAddress });
    expect(refusalOf(() => providers.resolve('OpenAiCompatible', 'olama/y')).message).toContain(
      'the endpoints are: ollama',
    );
    expect(refusalOf(() => providers.resolve('OpenAiCompatible', 'ollama/')).code).toBe('invalid_request');
  });

  it('on this machine are found unless they are known already', async () => {
    server.answerWith((call) => call.models(['a', 'b']));
    const gone = await startScriptedProvider();
    await gone.close();
    const providers = open({
      wellKnownEndpoints: [
        { name: 'ollama', baseAddress: server.baseAddress },
        { name: 'vllm', baseAddress: gone.baseAddress },
      ],
    });
    expect(await providers.findLocalEndpoints({ signal: noAbort() })).toEqual([
      { name: 'ollama', baseAddress: server.baseAddress, models: 2 },
    ]);
    providers.addEndpoint({ name: 'mine', baseAddress: server.baseAddress });
    expect(await providers.findLocalEndpoints({ signal: noAbort() })).toEqual([]);
  });
});

describe('the list of models', () => {
  it('has the form of the contract and every provider in it', () => {
    const models = open().models();
    expect(models.map((model) => modelSchema.parse(model))).toEqual(models);
    expect(new Set(models.map(({ aiSystem }) => aiSystem))).toEqual(
      new Set(['ServiceAi', 'OpenAi', 'Anthropic', 'GoogleGemini', 'Groq', 'Cohere']),
    );
    expect(models.some(({ isReady }) => isReady)).toBe(false);
  });

  it('asks providers that have a key for their lists by itself, once', async () => {
    server.answerWith((call) =>
      call.json(200, { models: [{ name: 'command-z', endpoints: ['chat'], context_length: 9000 }] }),
    );
    const providers = open({ environment: { COHERE_API_KEY: 'k' }, baseOverrides: { Cohere: server.baseAddress } });
    providers.models();
    providers.models();
    await vi.waitFor(() => expect(providers.models().some(({ name }) => name === 'command-z')).toBe(true));
    expect(server.calls.length).toBe(1);
  });

  it('takes names that a person adds, and gives them back', () => {
    const providers = open({ environment: { OPENAI_API_KEY: 'k' } });
    expect(providers.addModel('OpenAi', 'ft:gpt-4o:me')).toMatchObject({
      name: 'ft:gpt-4o:me',
      origin: 'user',
      isReady: true,
    });
    expect(providers.resolve('OpenAi', 'ft:gpt-4o:me').servedBy).toBe('OpenAi/ft:gpt-4o:me');
    expect(refusalOf(() => providers.addModel('OpenAi', 'ft:gpt-4o:me')).code).toBe('conflict');
    expect(refusalOf(() => providers.addModel('OpenAi', 'gpt-4o')).code).toBe('conflict');
    expect(refusalOf(() => providers.addModel('ServiceAi', 'x')).code).toBe('invalid_request');
    expect(refusalOf(() => providers.addModel('OpenAiCompatible', 'x')).code).toBe('invalid_request');
    providers.removeModel('OpenAi', 'ft:gpt-4o:me');
    expect(refusalOf(() => providers.resolve('OpenAi', 'ft:gpt-4o:me')).code).toBe('invalid_request');
    expect(refusalOf(() => providers.removeModel('OpenAi', 'gpt-4o')).code).toBe('not_found');
  });
});

describe('what goes with a run', () => {
  const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', GROQ_API_KEY: 'k' };

  it('drops the parameters that a model does not take, with a warning for each', () => {
    const providers = open({ environment });
    const target = providers.resolve('OpenAi', 'gpt-4.1');
    const configuration = { temperature: 0.2, stop: 'END', seed: 1, top_p: null, own: null };
    vi.useFakeTimers({ now: new Date('2026-08-01T00:00:00Z') });
    expect(providers.applicableConfiguration(target, configuration)).toEqual({
      configuration: { temperature: 0.2, own: null },
      warnings: [
        {
          code: 'parameter-dropped',
          parameter: 'stop',
          message: "stop was not sent to GPT-4.1: OpenAI's Responses API does not have it.",
        },
        {
          code: 'parameter-dropped',
          parameter: 'seed',
          message: "seed was not sent to GPT-4.1: OpenAI's Responses API does not have it.",
        },
      ],
    });
  });

  it.each([
    ['OpenAi', 'gpt-6-astra', { temperature: 1 }, ['temperature']],
    ['OpenAi', 'gpt-6-sol', { temperature: 1 }, ['temperature']],
    ['OpenAi', 'gpt-6-sol', { temperature: 1, reasoning_effort: 'none' }, []],
    ['OpenAi', 'gpt-6-sol', { reasoning_effort: 'minimal' }, ['reasoning_effort']],
    ['Anthropic', 'claude-opus-5-5', { temperature: 1, top_p: 1, top_k: 1 }, ['temperature', 'top_p', 'top_k']],
    ['Anthropic', 'claude-haiku-4-5', { temperature: 1, top_k: 5 }, []],
    ['Anthropic', 'claude-haiku-4-5', { temperature: 1, top_p: 0.5 }, ['top_p']],
    ['Anthropic', 'claude-haiku-4-5', { temperature: 1, reasoning_effort: 'low' }, ['temperature']],
    ['Anthropic', 'claude-opus-4-8', { response_format: { type: 'json_object' } }, ['response_format']],
    ['GoogleGemini', 'gemini-2.5-pro', { presence_penalty: 1, top_k: 3 }, ['presence_penalty']],
    ['Groq', 'llama-3.1-8b-instant', { top_k: 3, reasoning_effort: 'low' }, ['top_k', 'reasoning_effort']],
    ['ServiceAi', 'hl-gpt-4o-mini', { temperature: 0, seed: 1, reasoning_effort: 'low' }, ['reasoning_effort']],
  ] as const)('of %s %s with %j drops %j', (aiSystem, name, configuration, dropped) => {
    const providers = open({ environment });
    const applied = providers.applicableConfiguration(providers.resolve(aiSystem, name), configuration);
    const named = applied.warnings.filter(({ code }) => code === 'parameter-dropped').map(({ parameter }) => parameter);
    expect(named).toEqual(dropped);
    expect(Object.keys(applied.configuration)).toEqual(
      Object.keys(configuration).filter((key) => !(dropped as readonly string[]).includes(key)),
    );
  });

  it.each([
    ['2026-10-15', null],
    ['2026-10-16', 'GPT-4o is shut down by its provider on 2027-01-14. Take gpt-6-luna instead.'],
    ['2027-01-13', 'GPT-4o is shut down by its provider on 2027-01-14. Take gpt-6-luna instead.'],
    ['2027-01-14', 'GPT-4o was shut down on 2027-01-14 by its provider. Take gpt-6-luna instead.'],
  ])('warns of the end of a model from 90 days before on: on %s %j', (day, message) => {
    vi.useFakeTimers({ now: new Date(`${day}T12:00:00Z`) });
    const providers = open({ environment });
    const { warnings } = providers.applicableConfiguration(providers.resolve('OpenAi', 'gpt-4o'), {});
    expect(warnings).toEqual(message === null ? [] : [{ code: 'model-ending', message }]);
  });

  it('warns of a model that has ended on a day that no one wrote down', () => {
    const providers = open({ environment });
    const target = providers.resolve('Anthropic', 'claude-3-haiku-20240307');
    expect(providers.applicableConfiguration(target, {}).warnings).toEqual([
      { code: 'model-ending', message: 'Claude Haiku 3 has been shut down by its provider.' },
    ]);
  });

  it('costs what the catalogue says, and nothing that is guessed', () => {
    const providers = open({ environment });
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000 };
    expect(providers.cost(providers.resolve('OpenAi', 'gpt-4o'), usage)).toBeCloseTo(2.5 + 1);
    expect(providers.cost(providers.resolve('OpenAi', 'gpt-6.1-sol'), usage)).toBeNull();
  });
});

it('refuses a base address for something that has none', () => {
  expect(refusalOf(() => open({ baseOverrides: { Nonsense: 'http://127.0.0.1:1' } })).code).toBe('invalid_request');
});
