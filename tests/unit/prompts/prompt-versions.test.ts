import { join } from 'node:path';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPrompts, type Prompts } from '../../../electron/prompts/create-prompts.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';

type Storage = ReturnType<typeof openStorage>;

function promptsOf(storage: Storage): Prompts {
  return createPrompts({
    store: storage.prompts,
    providers: { systemOf: () => 'OpenAi' },
    completions: { start: () => expect.unreachable('nothing is run here') },
  });
}

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((one) => !one.includes('{{'));
const versionInput = fc.record(
  {
    promptText: text,
    systemMessage: fc.option(text),
    model: fc.option(fc.constantFrom('gpt-4o', 'gpt-4o-mini')),
    configuration: fc.option(fc.dictionary(fc.constantFrom('temperature', 'seed', 'custom'), fc.integer())),
    variables: fc.uniqueArray(
      fc.record({
        name: text,
        description: fc.option(text),
        defaultValue: fc.option(text),
        sampleValue: fc.option(text),
      }),
      { maxLength: 3, selector: ({ name }) => name },
    ),
    note: fc.option(text),
  },
  { requiredKeys: ['promptText'] },
);
const change = fc.record(
  { name: text, folder: fc.option(text), tags: fc.array(text, { maxLength: 2 }), description: fc.option(text) },
  { requiredKeys: [] },
);
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), input: versionInput, prompt: change }),
  fc.record({ kind: fc.constant('version' as const), input: versionInput, at: fc.nat(20) }),
  fc.record({ kind: fc.constant('patch' as const), change, at: fc.nat(20) }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('restart' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What must be true after any steps: the prompts that are kept, newest first, and every version that ever was. */
interface Model {
  readonly kept: { id: string; versions: PromptVersion[] }[];
  readonly everyVersion: PromptVersion[];
}

function versionsOf(prompts: Prompts, id: string): PromptVersion[] {
  const found: PromptVersion[] = [];
  let continuationToken: string | null = null;
  do {
    const page = prompts.listVersions(id, { pageSize: 2, continuationToken });
    found.push(...page.data);
    continuationToken = page.continuationToken;
  } while (continuationToken !== null);
  return found;
}

function expectModel(prompts: Prompts, { kept, everyVersion }: Model): void {
  const everything = { pageSize: 100, continuationToken: null };
  expect(prompts.list(everything).data.map(({ id, latestVersionId }) => ({ id, latestVersionId }))).toEqual(
    kept.map(({ id, versions }) => ({ id, latestVersionId: versions[0]!.id })),
  );
  for (const { id, versions } of kept) expect(versionsOf(prompts, id)).toEqual(versions);
  for (const version of everyVersion) {
    expect(prompts.readVersion(version.promptId, version.id)).toEqual(version);
  }
}

function take(prompts: Prompts, model: Model, one: Step): void {
  if (one.kind === 'create') {
    const { id, latestVersionId } = prompts.create({ name: 'P', ...one.prompt, ...one.input });
    const version = prompts.readVersion(id, latestVersionId);
    expect(version).toMatchObject({ number: 1, ...one.input });
    model.kept.unshift({ id, versions: [version] });
    model.everyVersion.push(version);
    return;
  }
  if (one.kind === 'restart' || model.kept.length === 0) return;
  const index = one.at % model.kept.length;
  const prompt = model.kept[index]!;
  if (one.kind === 'version') {
    const version = prompts.addVersion(prompt.id, one.input);
    expect(version).toMatchObject({ number: prompt.versions.length + 1, ...one.input });
    prompt.versions.unshift(version);
    model.everyVersion.push(version);
  } else if (one.kind === 'patch') prompts.update(prompt.id, one.change);
  else {
    prompts.remove(prompt.id);
    model.kept.splice(index, 1);
    expect(() => prompts.read(prompt.id)).toThrow(AppError);
  }
}

test('whatever is made, versioned, changed and deleted, every version stays readable and as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const directory = temporaryDirectory();
      let storage = openStorage({ directory });
      try {
        const model: Model = { kept: [], everyVersion: [] };
        for (const one of steps) {
          if (one.kind === 'restart') {
            await storage.close();
            storage = openStorage({ directory });
          }
          take(promptsOf(storage), model, one);
        }
        expectModel(promptsOf(storage), model);
      } finally {
        await storage.close();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('the database itself refuses to change or remove a version', () => {
  const storage = openTestStorage();
  promptsOf(storage).create({ name: 'P', promptText: 'Hi' });
  const database = new Database(join(storage.directory, 'touchstone.sqlite'));
  expect(() => database.exec("UPDATE prompt_versions SET prompt_text = 'x'")).toThrow('never changes');
  expect(() => database.exec('DELETE FROM prompt_versions')).toThrow('never removed');
  database.close();
});
