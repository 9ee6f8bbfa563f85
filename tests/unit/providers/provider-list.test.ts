import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { detailsOf } from '../../../electron/providers/catalogue.ts';
import type { ProviderDetails } from '../../../electron/providers/provider-details.ts';
import { registry } from '../../../electron/providers/registry.ts';
import {
  readDotpromptModel,
  readPromptfooProvider,
  writeDotpromptModel,
  writePromptfooProvider,
} from '../../../electron/prompts/transfer/model-names.ts';
import { namedParameters } from '../../../shared/contract/completions.ts';
import { keyedProviders, type KeyedProvider } from '../../../shared/contract/common.ts';
import { embeddingProviders } from '../../../shared/contract/settings.ts';
import { createTransport } from '../../support/provider-calls.ts';

const root = join(import.meta.dirname, '../../..');
const providers = join(root, 'electron/providers');

/** `GoogleGemini` has the folder `google-gemini`. */
function folderOf(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const price = z.number().nonnegative().nullable();
const catalogueEntry = z.strictObject({
  name: z.string().min(1),
  title: z.string().min(1),
  contextTokens: z.int().positive().nullable(),
  outputTokens: z.int().positive().nullable(),
  inputPrice: price,
  outputPrice: price,
  cachedInputPrice: price,
  cacheWritePrice: price,
  longCacheWritePrice: price,
  longPrompt: z.looseObject({ aboveTokens: z.int(), inputPrice: price, outputPrice: price }).nullable(),
  audioInputPrice: price,
  pricesFrom: z.iso.date().nullable(),
  capabilities: z.array(z.enum(['reasoning', 'tools', 'images', 'structured-output', 'open-weights'])),
  sampling: z.enum(['always', 'unless-effort', 'with-effort-none', 'never']),
  reasoningEfforts: z.array(z.string()).nullable(),
  shutdownDate: z.iso.date().nullable(),
  hasEnded: z.boolean(),
  replacement: z.string().nullable(),
});
const lowerCase = z.string().regex(/^[a-z0-9]+$/);
const completeDetails = z.object({
  baseAddress: z.url({ protocol: /^https$/ }).regex(/[^/]$/),
  environmentVariable: z.string().regex(/^[A-Z]+_API_KEY$/),
  keyPage: z.url({ protocol: /^https$/ }),
  models: z.array(catalogueEntry).min(1),
  parameterRules: z.object({
    unsupported: z.partialRecord(z.enum(namedParameters), z.string().min(1)),
    responseFormats: z.array(z.string()).optional(),
  }),
  promptFileNames: z.object({
    dotprompt: z.array(lowerCase).min(1),
    promptfoo: z.array(lowerCase),
    promptfooKind: lowerCase.optional(),
  }),
});

/** What a provider lacks, by the path of the missing piece. */
function problemsOf(name: string, details: ProviderDetails): string[] {
  const folder = folderOf(name);
  const files = [
    ...['client.ts', 'details.ts', 'models.json', 'model-changes.json'].map((file) =>
      join('electron/providers', folder, file),
    ),
    ...['json', 'sse'].map((ending) => join('tests/fixtures/providers', `${folder}.${ending}`)),
  ];
  const tests = ['provider-forms', 'third-party-providers'].map((file) =>
    join('tests/unit/providers', `${file}.test.ts`),
  );
  return [
    ...files.filter((file) => !existsSync(join(root, file))),
    ...tests.filter((file) => !readFileSync(join(root, file), 'utf8').includes(`name: '${name}'`)),
    ...(completeDetails.safeParse(details).error?.issues.map(({ path }) => path.join('.')) ?? []),
  ];
}

describe('every provider', () => {
  test.each(keyedProviders)('%s is complete', (name) => {
    expect(problemsOf(name, detailsOf[name])).toEqual([]);
  });

  test('has a folder, and every folder is that of a provider', () => {
    const folders = readdirSync(providers, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).toEqual(keyedProviders.map(folderOf).sort());
  });

  test.each(['environmentVariable', 'baseAddress', 'keyPage'] as const)('has its own %s', (field) => {
    expect(new Set(keyedProviders.map((name) => detailsOf[name][field])).size).toBe(keyedProviders.length);
  });

  test.each(keyedProviders)('%s is read from the prompt files that name it', (aiSystem) => {
    const { dotprompt, promptfoo } = detailsOf[aiSystem].promptFileNames;
    for (const name of dotprompt) expect(readDotpromptModel(`${name}/m`)).toEqual({ aiSystem, model: 'm' });
    for (const name of promptfoo) expect(readPromptfooProvider(`${name}:m`)).toEqual({ aiSystem, model: 'm' });
    expect(readDotpromptModel(writeDotpromptModel(aiSystem, 'm'))).toEqual({ aiSystem, model: 'm' });
    if (promptfoo.length > 0) {
      expect(readPromptfooProvider(writePromptfooProvider(aiSystem, 'm') ?? '')).toEqual({ aiSystem, model: 'm' });
    }
  });

  test.each(keyedProviders)('%s has a client, with embeddings exactly if the contract lists them', async (name) => {
    const { title, baseAddress, create } = registry[name];
    const transport = createTransport();
    const client = create({ title, baseAddress, key: 'key', transport });
    expect(client).toMatchObject({
      generate: expect.any(Function) as unknown,
      stream: expect.any(Function) as unknown,
      listModels: expect.any(Function) as unknown,
    });
    expect(client.embed !== undefined).toBe((embeddingProviders as readonly string[]).includes(name));
    await transport.close();
  });

  test('detects one with a missing part', () => {
    const complete = detailsOf.Groq;
    const without = (change: Partial<Record<keyof ProviderDetails, unknown>>) =>
      problemsOf('Groq', { ...complete, ...change } as ProviderDetails);
    expect(without({ models: [] })).toEqual(['models']);
    expect(without({ models: [{ ...(complete.models[0] as object), sampling: 'sometimes' }] })).toEqual([
      'models.0.sampling',
    ]);
    expect(without({ promptFileNames: undefined, keyPage: '' })).toEqual(expect.arrayContaining(['promptFileNames']));
    expect(problemsOf('NewOne' satisfies string as KeyedProvider, complete)).toHaveLength(8);
  });
});
