import { afterEach, describe, expect, it, vi } from 'vitest';
import { useProvidersWorld } from '../../support/providers-world.ts';

const world = useProvidersWorld();
afterEach(() => void vi.useRealTimers());

const jsonSchema = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } } as const;

describe('the configuration of a run', () => {
  const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', GROQ_API_KEY: 'k' };

  it("drops the parameters that a model doesn't support, with a warning for each", () => {
    const providers = world.open({ environment });
    const target = providers.resolve('OpenAi', 'gpt-4.1');
    const configuration = { temperature: 0.2, stop: 'END', seed: 1, top_p: null, own: null };
    vi.useFakeTimers({ now: new Date('2026-08-01T00:00:00Z') });
    expect(providers.applicableConfiguration(target, configuration)).toEqual({
      configuration: { temperature: 0.2, own: null },
      warnings: [
        {
          code: 'parameter-dropped',
          parameter: 'stop',
          message: "stop wasn't sent to GPT-4.1: not supported by OpenAI's Responses API.",
        },
        {
          code: 'parameter-dropped',
          parameter: 'seed',
          message: "seed wasn't sent to GPT-4.1: not supported by OpenAI's Responses API.",
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
    ['OpenAi', 'gpt-4', { response_format: jsonSchema }, ['response_format']],
    ['OpenAi', 'gpt-4', { response_format: { type: 'json_object' } }, []],
    ['OpenAi', 'gpt-4.1', { response_format: jsonSchema }, []],
    ['Anthropic', 'claude-opus-4-8', { response_format: jsonSchema }, []],
    ['GoogleGemini', 'gemini-2.5-pro', { response_format: jsonSchema }, []],
    ['Groq', 'llama-3.1-8b-instant', { response_format: jsonSchema }, ['response_format']],
    ['Groq', 'openai/gpt-oss-20b', { response_format: jsonSchema }, []],
    ['ServiceAi', 'hl-gpt-4o-mini', { response_format: jsonSchema }, []],
    ['ServiceAi', 'hl-gpt-4o-mini', { response_format: { type: 'json_object' } }, []],
    ['GoogleGemini', 'gemini-2.5-pro', { presence_penalty: 1, top_k: 3 }, ['presence_penalty']],
    ['Groq', 'llama-3.1-8b-instant', { top_k: 3, reasoning_effort: 'low' }, ['top_k', 'reasoning_effort']],
    ['ServiceAi', 'hl-gpt-4o-mini', { temperature: 0, seed: 1, reasoning_effort: 'low' }, ['reasoning_effort']],
  ] as const)('of %s %s with %j drops %j', (aiSystem, name, configuration, dropped) => {
    const providers = world.open({ environment });
    const applied = providers.applicableConfiguration(providers.resolve(aiSystem, name), configuration);
    const named = applied.warnings.filter(({ code }) => code === 'parameter-dropped').map(({ parameter }) => parameter);
    expect(named).toEqual(dropped);
    expect(Object.keys(applied.configuration)).toEqual(
      Object.keys(configuration).filter((key) => !(dropped as readonly string[]).includes(key)),
    );
  });

  it.each([
    ['2026-10-15', null],
    ['2026-10-16', 'GPT-4o retires on 2027-01-14. Use gpt-6-luna instead.'],
    ['2027-01-13', 'GPT-4o retires on 2027-01-14. Use gpt-6-luna instead.'],
    ['2027-01-14', 'GPT-4o was retired on 2027-01-14. Use gpt-6-luna instead.'],
  ])("warns of a model's shutdown from 90 days before: on %s %j", (day, message) => {
    vi.useFakeTimers({ now: new Date(`${day}T12:00:00Z`) });
    const providers = world.open({ environment });
    const { warnings } = providers.applicableConfiguration(providers.resolve('OpenAi', 'gpt-4o'), {});
    expect(warnings).toEqual(message === null ? [] : [{ code: 'model-ending', message }]);
  });

  it('warns of a model that was shut down on an unknown day', () => {
    const providers = world.open({ environment });
    const target = providers.resolve('Anthropic', 'claude-3-haiku-20240307');
    expect(providers.applicableConfiguration(target, {}).warnings).toEqual([
      { code: 'model-ending', message: 'Claude Haiku 3 is retired.' },
    ]);
  });

  it("has the catalogue's cost, and no guess", () => {
    const providers = world.open({ environment });
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000, total_tokens: 1_100_000 };
    expect(providers.cost(providers.resolve('OpenAi', 'gpt-4o'), usage, null)).toEqual({
      amount: 3.5,
      pricesFrom: '2026-07-02',
    });
    expect(providers.cost(providers.resolve('OpenAi', 'gpt-6.1-sol'), usage, null)).toBeNull();
  });
});
