import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type {
  Rubric,
  RubricInput,
  RubricItem,
  RubricItemInput,
  RubricVersionInput,
} from '../../../shared/contract/rubrics.ts';
import { type ListPage, type ListQuery, newestList } from '../list-page.ts';

/** Methods with an id throw `not_found`. */
export interface RubricStore {
  /** Newest first, in the latest version. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<Rubric>;
  /** The latest version for null. */
  read(id: string, version: number | null): Rubric;
  create(input: RubricInput): Rubric;
  /** Throws `invalid_request` for an item whose id no earlier version has, or that has another kind. */
  addVersion(id: string, input: RubricVersionInput): Rubric;
  /** Throws `conflict` while a queue uses it. */
  remove(id: string): void;
}

interface RubricRow {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly latestVersion: number;
  readonly description: string | null;
  readonly itemsJson: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly queueCount: number;
}

const rows = `SELECT rubrics.sequence, id, name, version, description, items_json AS itemsJson, rubrics.created_at AS createdAt,
    rubric_versions.created_at AS updatedAt,
    (SELECT max(version) FROM rubric_versions WHERE rubric = rubrics.sequence) AS latestVersion,
    (SELECT count(*) FROM review_queues WHERE rubric_id = rubrics.id AND is_hidden = 0) AS queueCount
  FROM rubrics JOIN rubric_versions ON rubric = rubrics.sequence`;

function rubricOf(row: RubricRow): Rubric {
  const { id, name, version, latestVersion, description, queueCount, itemsJson, createdAt, updatedAt } = row;
  return {
    id,
    name,
    version,
    latestVersion,
    description,
    queueCount,
    items: JSON.parse(itemsJson) as RubricItem[],
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

function itemOf(input: RubricItemInput): RubricItem {
  return {
    id: input.id?.toLowerCase() ?? randomUUID(),
    kind: input.kind,
    question: input.question,
    description: input.description?.trim() || null,
    isRequired: input.isRequired ?? true,
    ...(input.isCorrection === true && { isCorrection: true }),
    categories: (input.categories ?? []).map(({ label, description }) => ({
      label,
      description: description?.trim() || null,
    })),
    examples: (input.examples ?? []).map(({ text, value }) => ({ text, value: value ?? null })),
  };
}

/** Why a value does not fit an item of a rubric; null if it does. */
export function valueIssue({ kind, categories }: RubricItem, value: unknown): string | null {
  if (kind === 'yesNo') return typeof value === 'boolean' ? null : 'must be true or false';
  if (kind === 'score') return typeof value === 'number' ? null : 'must be a whole number from -10 to 10';
  if (typeof value !== 'string') return 'must be a text';
  if (kind === 'text') return value.trim() === '' ? 'must not be empty' : null;
  const labels = categories.map(({ label }) => label);
  return labels.includes(value) ? null : `must be one of the categories: ${labels.join(', ')}`;
}

/** Throws `invalid_request` for an example whose value does not fit its item. */
function requireFittingExamples(items: readonly RubricItem[]): void {
  for (const [index, item] of items.entries()) {
    for (const [number, { value }] of item.examples.entries()) {
      const issue = value === null ? null : valueIssue(item, value);
      if (issue !== null) throw invalidField(`items[${index}].examples[${number}].value`, issue);
    }
  }
}

function statements(database: Database.Database) {
  return {
    page: database.prepare<{ before: number; limit: number }, RubricRow>(
      `${rows} WHERE version = latestVersion AND rubrics.sequence < @before ORDER BY rubrics.sequence DESC LIMIT @limit`,
    ),
    find: database.prepare<{ id: string; version: number | null }, RubricRow>(
      `${rows} WHERE id = @id AND version = coalesce(@version, latestVersion)`,
    ),
    versions: database
      .prepare<[number], string>('SELECT items_json FROM rubric_versions WHERE rubric = ? ORDER BY version DESC')
      .pluck(),
    insert: database.prepare<[string, string, number]>('INSERT INTO rubrics (id, name, created_at) VALUES (?, ?, ?)'),
    insertVersion: database.prepare<[{ rubric: string; description: string | null; items: string; now: number }]>(
      `INSERT INTO rubric_versions (rubric, version, description, items_json, created_at)
       SELECT sequence, (SELECT coalesce(max(version), 0) + 1 FROM rubric_versions WHERE rubric = sequence), @description, @items, @now
       FROM rubrics WHERE id = @rubric`,
    ),
    remove: database.prepare<[number]>('DELETE FROM rubrics WHERE sequence = ?'),
  };
}

/** Throws `invalid_request` for an item that says it is an earlier one and isn't, or has another kind. */
function requireEarlierItems(inputs: RubricVersionInput['items'], earlier: readonly RubricItem[]): void {
  for (const [index, item] of inputs.entries()) {
    if (item.id === undefined) continue;
    const same = earlier.find((one) => one.id === item.id!.toLowerCase());
    if (!same) throw invalidField(`items[${index}].id`, 'is not an item of an earlier version');
    if (same.kind !== item.kind)
      throw invalidField(`items[${index}].kind`, `must be \`${same.kind}\` as before; leave the ID out for a new item`);
  }
}

export function createRubricStore(database: Database.Database, tokenSecret: string): RubricStore {
  const { page, find, versions, insert, insertVersion, remove } = statements(database);

  function required(id: string, version: number | null): RubricRow {
    const row = find.get({ id: id.toLowerCase(), version });
    if (row) return row;
    const isKnown = version !== null && find.get({ id: id.toLowerCase(), version: null }) !== undefined;
    throw new AppError('not_found', isKnown ? `The rubric has no version ${version}.` : 'No rubric has this ID.');
  }

  function append(id: string, { description, items: inputs }: RubricVersionInput): Rubric {
    const items = inputs.map(itemOf);
    requireFittingExamples(items);
    insertVersion.run({
      rubric: id,
      description: description?.trim() || null,
      items: JSON.stringify(items),
      now: Date.now(),
    });
    return rubricOf(required(id, null));
  }

  const create = database.transaction((input: RubricInput) => {
    const given = input.items.findIndex((item) => item.id !== undefined);
    if (given >= 0) throw invalidField(`items[${given}].id`, 'is not an item of an earlier version');
    const id = randomUUID();
    insert.run(id, input.name, Date.now());
    return append(id, input);
  });

  const addVersion = database.transaction((id: string, input: RubricVersionInput) => {
    const { sequence, id: found } = required(id, null);
    const earlier = versions.all(sequence).flatMap((json) => JSON.parse(json) as RubricItem[]);
    requireEarlierItems(input.items, earlier);
    return append(found, input);
  });

  return {
    list: newestList({ tokenSecret, name: 'rubrics', rows: (input) => page.all(input), toItem: rubricOf }),
    read: (id, version) => rubricOf(required(id, version)),
    create: (input) => create.immediate(input),
    addVersion: (id, input) => addVersion.immediate(id, input),
    remove(id) {
      const { sequence, queueCount } = required(id, null);
      if (queueCount > 0) {
        const queues = queueCount === 1 ? 'A review queue uses' : `${queueCount} review queues use`;
        throw new AppError('conflict', `${queues} this rubric. Delete them first.`);
      }
      remove.run(sequence);
    },
  };
}
