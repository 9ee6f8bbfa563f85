// @module-tag slow
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createPrompts, type Prompts } from '../../../electron/prompts/create-prompts.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { PromptInput, PromptVersion, PromptVersionInput } from '../../../shared/contract/prompts.ts';
import { versionInput as inputOf } from '../../../renderer/queries/prompts.ts';
import { deleteWithUndo } from '../../../renderer/stores/deletions.ts';
import { dismissToast, useToasts } from '../../../renderer/stores/toasts.ts';
import { fc } from '../../support/fast-check.ts';
import { openTestStorage, temporaryDirectory } from '../storage/test-storage.ts';
import { longTest } from '../../support/patience.ts';

type Storage = ReturnType<typeof openStorage>;

function promptsOf(storage: Storage): Prompts {
  return createPrompts({
    store: storage.prompts,
    draftRuns: storage.draftRuns,
    providers: {
      systemOf: () => 'OpenAi',
      resolve: () => expect.unreachable('nothing is run here'),
      applicableConfiguration: () => expect.unreachable('nothing is run here'),
    },
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
const label = fc.constantFrom('production', 'staging');
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), input: versionInput, prompt: change }),
  fc.record({ kind: fc.constant('version' as const), input: versionInput, at: fc.nat(4) }),
  fc.record({ kind: fc.constant('patch' as const), change, at: fc.nat(4) }),
  fc.record({ kind: fc.constant('restore' as const), at: fc.nat(4), version: fc.nat(4) }),
  fc.record({ kind: fc.constant('duplicate' as const), at: fc.nat(4) }),
  fc.record({ kind: fc.constant('label' as const), at: fc.nat(4), version: fc.nat(4), label }),
  fc.record({ kind: fc.constant('unlabel' as const), at: fc.nat(4), label }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(4), isUndone: fc.boolean() }),
  fc.record({ kind: fc.constant('restart' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface StoredPrompt {
  readonly id: string;
  readonly versions: PromptVersion[];
  readonly labels: Map<string, string>;
  /** Where its labels pointed, the newest move first. */
  readonly moves: { label: string; previousVersionId: string | null; promptVersionId: string | null }[];
}

/** What must be true after any steps: the stored prompts, newest first, and every version that ever existed. */
interface Model {
  readonly stored: StoredPrompt[];
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

/** A word that no other version has. Letters of chance would hardly ever be found by chance. */
const mark = (number: number) => `mark${number.toString(36).padStart(4, '0')}x`;

function expectLabels(prompts: Prompts, { id, labels, moves }: StoredPrompt): void {
  expect(new Map(prompts.read(id).labels.map((one) => [one.label, one.promptVersionId]))).toEqual(labels);
  const { data } = prompts.listLabelChanges(id, { pageSize: 100, continuationToken: null });
  expect(data).toEqual(moves.map((move) => ({ ...move, changedAt: expect.any(String) })));
}

function expectModel(prompts: Prompts, { stored, everyVersion }: Model): void {
  const everything = { pageSize: 100, continuationToken: null };
  expect(prompts.list(everything).data.map(({ id, latestVersionId }) => ({ id, latestVersionId }))).toEqual(
    stored.map(({ id, versions }) => ({ id, latestVersionId: versions[0]!.id })),
  );
  for (const prompt of stored) {
    expect(versionsOf(prompts, prompt.id)).toEqual(prompt.versions);
    expectLabels(prompts, prompt);
  }
  everyVersion.forEach((version, number) => {
    expect(prompts.readVersion(version.promptId, version.id)).toEqual(version);
    const filter = { search: mark(number), isOnlyDetails: false, folder: null, tags: [] };
    const isStored = stored.some(({ id }) => id === version.promptId);
    expect(prompts.list({ ...everything, filter }).data.map(({ id }) => id)).toEqual(
      isStored ? [version.promptId] : [],
    );
  });
}

/** As the window does it: the host is asked when the message with the way back is gone. */
function removeInWindow(prompts: Prompts, id: string, isUndone: boolean): void {
  deleteWithUndo({ id, text: id, carryOut: async () => prompts.remove(id) });
  const toast = useToasts.getState().toasts.find(({ text: shown }) => shown === id)!;
  if (isUndone) toast.action!.run();
  dismissToast(toast.id);
}

function create(prompts: Prompts, { stored, everyVersion }: Model, input: PromptInput): void {
  const marked = { ...input, note: `${input.note ?? ''} ${mark(everyVersion.length)}` };
  const { id, latestVersionId } = prompts.create(marked);
  const version = prompts.readVersion(id, latestVersionId);
  const { promptText, note } = marked;
  expect(version).toMatchObject({ number: 1, promptText, note });
  stored.unshift({ id, versions: [version], labels: new Map(), moves: [] });
  everyVersion.push(version);
}

function addVersion(prompts: Prompts, prompt: StoredPrompt, model: Model, input: PromptVersionInput): void {
  const marked = { ...input, note: `${input.note ?? ''} ${mark(model.everyVersion.length)}` };
  const version = prompts.addVersion(prompt.id, marked);
  const { promptText, note } = marked;
  expect(version).toMatchObject({ number: prompt.versions.length + 1, promptText, note });
  prompt.versions.unshift(version);
  model.everyVersion.push(version);
}

function setLabel(prompts: Prompts, { id, labels, moves }: StoredPrompt, name: string, promptVersionId: string): void {
  const previousVersionId = labels.get(name) ?? null;
  prompts.setLabel(id, name, { promptVersionId, previousVersionId });
  labels.set(name, promptVersionId);
  if (previousVersionId !== promptVersionId) moves.unshift({ label: name, previousVersionId, promptVersionId });
}

function removeLabel(prompts: Prompts, { id, labels, moves }: StoredPrompt, name: string): void {
  const previousVersionId = labels.get(name);
  if (previousVersionId === undefined) {
    expect(() => prompts.removeLabel(id, name)).toThrow(AppError);
    return;
  }
  prompts.removeLabel(id, name);
  labels.delete(name);
  moves.unshift({ label: name, previousVersionId, promptVersionId: null });
}

function take(prompts: Prompts, model: Model, one: Step): void {
  if (one.kind === 'create') create(prompts, model, { name: 'P', ...one.prompt, ...one.input });
  if (one.kind === 'create' || one.kind === 'restart' || model.stored.length === 0) return;
  const index = one.at % model.stored.length;
  const prompt = model.stored[index]!;
  const newest = prompt.versions[0]!;
  const older = 'version' in one ? prompt.versions[one.version % prompt.versions.length]! : newest;
  if (one.kind === 'version') addVersion(prompts, prompt, model, one.input);
  else if (one.kind === 'restore') addVersion(prompts, prompt, model, inputOf(older));
  else if (one.kind === 'duplicate') create(prompts, model, { name: 'Copy', ...inputOf(newest) });
  else if (one.kind === 'label') setLabel(prompts, prompt, one.label, older.id);
  else if (one.kind === 'unlabel') removeLabel(prompts, prompt, one.label);
  else if (one.kind === 'patch') prompts.update(prompt.id, one.change);
  else {
    removeInWindow(prompts, prompt.id, one.isUndone);
    if (one.isUndone) return;
    model.stored.splice(index, 1);
    expect(() => prompts.read(prompt.id)).toThrow(AppError);
  }
}

test('after any sequence of changes and undos, every version stays unchanged and is found', longTest, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const directory = temporaryDirectory();
      let storage = openStorage({ directory });
      try {
        const model: Model = { stored: [], everyVersion: [] };
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
    { numRuns: 25 },
  );
});

test('the database itself rejects changing or removing a version', () => {
  const storage = openTestStorage();
  promptsOf(storage).create({ name: 'P', promptText: 'Hi' });
  const database = new Database(join(storage.directory, 'touchstone.sqlite'));
  expect(() => database.exec("UPDATE prompt_versions SET prompt_text = 'x'")).toThrow('never changes');
  expect(() => database.exec('DELETE FROM prompt_versions')).toThrow('never removed');
  database.close();
});
