import { describe, expect, it } from 'vitest';
import { failureOf, modelRequest, noAbort } from '../../support/provider-calls.ts';
import { rejectionOf, useProvidersWorld } from '../../support/providers-world.ts';

const world = useProvidersWorld();

describe('resolving a model', () => {
  it('returns the provider, its name for the model and the recorded name', async () => {
    world.server.answerWith((call) => call.json(401, {}));
    const providers = world.open({
      environment: { OPENAI_API_KEY: 'k1' },
      baseOverrides: { OpenAi: `${world.server.baseAddress}/` },
    });
    const { provider, model, servedBy, catalogueEntry } = providers.resolve('OpenAi', 'gpt-4o');
    expect([model, servedBy, catalogueEntry?.inputPrice]).toEqual(['gpt-4o', 'OpenAi/gpt-4o', 2.5]);
    await failureOf(provider.generate(modelRequest(model), { signal: noAbort() }));
    expect([world.server.calls[0]?.path, world.server.calls[0]?.headers.authorization]).toEqual([
      '/v1/responses',
      'Bearer k1',
    ]);
  });

  it('returns the same object until something changes', () => {
    const providers = world.open({ environment: { OPENAI_API_KEY: 'k1' } });
    const first = providers.resolve('OpenAi', 'gpt-4o');
    expect(providers.resolve('OpenAi', 'gpt-4o')).toBe(first);
    providers.setKey('OpenAi', 'k2');
    expect(providers.resolve('OpenAi', 'gpt-4o')).not.toBe(first);
  });

  it('rejects an unknown model and suggests the nearest ones', () => {
    const error = rejectionOf(() => world.open().resolve('OpenAi', 'gpt-4o-mimi'));
    expect([error.code, error.details]).toEqual([
      'invalid_request',
      [{ field: 'model', issue: 'is not a model of OpenAI; did you mean: gpt-4o-mini, gpt-4.1-mini, gpt-5-mini' }],
    ]);
  });

  it('names the provider that has the model if it is another one', () => {
    const providers = world.open();
    expect(rejectionOf(() => providers.resolve('OpenAi', 'claude-opus-5-5')).message).toContain(
      'Anthropic has this model (aiSystem Anthropic).',
    );
    expect(rejectionOf(() => providers.resolve('Groq', 'hl-gpt-4o-mini')).message).toContain('aiSystem ServiceAi');
    expect(rejectionOf(() => providers.resolve('ServiceAi', 'gpt-4o')).message).toContain('aiSystem OpenAi');
  });

  it('is fast for a name of four megabytes', () => {
    const error = rejectionOf(() => world.open().resolve('OpenAi', 'x'.repeat(4_000_000)));
    expect(error.message.length).toBeLessThan(1000);
  });

  it.each(['constructor', '__proto__', 'toString', ''])('rejects %j like any other unknown name', (name) => {
    const providers = world.open({ environment: { OPENAI_API_KEY: 'k' } });
    for (const aiSystem of ['OpenAi', 'ServiceAi', 'OpenAiCompatible'] as const) {
      expect(rejectionOf(() => providers.resolve(aiSystem, name)).code).toBe('invalid_request');
    }
  });

  it('explains where to set a missing key', () => {
    const error = rejectionOf(() => world.open().resolve('GoogleGemini', 'gemini-4-argon'));
    expect([error.code, error.message]).toEqual([
      'provider_not_configured',
      'Google Gemini has no API key. Add one in Settings, Providers and keys, or set the environment variable GEMINI_API_KEY.',
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
    const providers = world.open({ environment });
    for (const name of names) expect(providers.resolve(aiSystem, name).provider).toBeDefined();
  });
});

describe("the service's own models", () => {
  it('run on this device by default, without any key', () => {
    const { servedBy, provider } = world.open().resolve('ServiceAi', 'hl-gpt-4o-mini');
    expect([servedBy, provider]).toEqual([`on-device/${world.onDevice.selectedFileName()}`, world.onDevice.provider]);
  });

  it('have the context size of the selected on-device model', () => {
    const providers = world.open();
    expect(providers.resolve('ServiceAi', 'hl-gpt-4o-mini').metadata.contextTokens).toBe(2048);
    expect(providers.models().find(({ name }) => name === 'hl-gpt-4o-mini')).toMatchObject({ contextTokens: 2048 });
  });

  it('follow their route in the settings, from the next run on', () => {
    const providers = world.open({ environment: { GROQ_API_KEY: 'k' } });
    providers.resolve('ServiceAi', 'hl-gpt-4.1-mini');
    const route = { kind: 'provider', aiSystem: 'Groq', model: 'openai/gpt-oss-20b' } as const;
    world.storage.settings.update({
      serviceRoutes: { ...world.storage.settings.read().serviceRoutes, 'hl-gpt-4.1-mini': route },
    });
    const target = providers.resolve('ServiceAi', 'hl-gpt-4.1-mini');
    expect([target.servedBy, target.model]).toEqual(['Groq/openai/gpt-oss-20b', 'openai/gpt-oss-20b']);
    expect(providers.models().find(({ name }) => name === 'hl-gpt-4.1-mini')).toMatchObject({
      servedBy: 'Groq/openai/gpt-oss-20b',
      isReady: true,
      contextTokens: 131072,
    });
  });

  it("count tokens if their route's provider counts", () => {
    const canCount = () =>
      world
        .open()
        .models()
        .find(({ name }) => name === 'hl-gpt-4o-mini')?.canCountTokens;
    expect(canCount()).toBe(false);
    for (const [aiSystem, model, expected] of [
      ['OpenAi', 'gpt-4o', true],
      ['Groq', 'openai/gpt-oss-20b', false],
    ] as const) {
      const route = { kind: 'provider', aiSystem, model } as const;
      world.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
      expect(canCount()).toBe(expected);
    }
  });

  it('report what their route lacks', () => {
    const route = { kind: 'provider', aiSystem: 'Cohere', model: 'command-a-03-2025' } as const;
    world.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
    const error = rejectionOf(() => world.open().resolve('ServiceAi', 'hl-gpt-4o-mini'));
    expect([error.code, error.message.includes('COHERE_API_KEY')]).toEqual(['provider_not_configured', true]);
  });
});

it('rejects a base address for a provider without one', () => {
  expect(rejectionOf(() => world.open({ baseOverrides: { Nonsense: 'http://127.0.0.1:1' } })).code).toBe(
    'invalid_request',
  );
});
