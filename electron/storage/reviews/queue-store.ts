import Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { ImportedRun, ItemView } from '../../../shared/contract/review-items.ts';
import type { ReviewQueue } from '../../../shared/contract/review-queues.ts';
import { type ListPage, type ListQuery, newestList } from '../list-page.ts';
import {
  type ChosenItem,
  itemColumns,
  type NewItem,
  type NewQueue,
  type PopulationRun,
  type Positions,
  queueOf,
  type QueueRow,
  type QueueSampling,
  type StoredItem,
  type StoredItemVerdict,
  type StoredQueue,
  type ViewOf,
  viewConditions,
} from './queue-rows.ts';
import { markItemRemoved, removeCommentsOf } from './review-removal.ts';

/** Methods with an id throw `not_found`. */
export interface QueueStore {
  /** This data folder's, for files that go to other installations. */
  readonly installationId: string;
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredQueue>;
  read(id: string): StoredQueue;
  find(id: string): StoredQueue | null;
  /** Also of a queue that isn't shown yet. */
  readSequence(sequence: number): StoredQueue;
  /** Of a hidden queue of this host, 0 says that it may be in the team database: `removeSome` keeps it until this is null. */
  setTeamChange(queue: number, change: number | null): void;
  /** The hidden queues of this host that may be in the team database, without those that are being made. */
  unpublished(): StoredQueue[];
  /** The queues of this host that take new items. */
  openQueues(): StoredQueue[];
  setSampling(queue: number, sampling: QueueSampling): void;
  rename(queue: number, name: string): void;
  /** All items in a range of positions, also removed ones. */
  chosenIn(queue: StoredQueue, range: Positions): ChosenItem[];
  /** IDs of items whose runs were deleted. */
  removedItems(queue: number): string[];
  /** With its texts and reviews. */
  removeItem(item: number): void;
  /** A hidden queue, until `show`. Throws `conflict` for a known id, also of a hidden queue. */
  create(queue: NewQueue): number;
  /** Throws `conflict` for an item with a known id. */
  append(queue: number, position: number, items: readonly NewItem[]): void;
  show(queue: number): void;
  /** `removeSome` deletes it then. */
  hide(queue: number): void;
  /** Hides a queue. `removeSome` deletes it. */
  remove(id: string): void;
  /** Deletes some rows of a removed queue. False if none is left. */
  removeSome(): boolean;
  counts(queue: number): ReviewQueue['counts'];
  items(queue: number, range: { readonly offset: number; readonly limit: number }): StoredItem[];
  itemCount(queue: number): number;
  /** A part of the items that a reviewer sees in a view. Both take up to 40 ms for 50,000 items. */
  view(queue: number, of: ViewOf, range: { readonly offset: number; readonly limit: number }): StoredItem[];
  viewCount(queue: number, of: ViewOf): number;
  /** Throws `not_found`. */
  item(queue: number, id: string): StoredItem;
  hasItem(queue: number, id: string): boolean;
  content(item: number): ImportedRun[] | null;
  /** What judges said about the runs of items in a range of positions. */
  verdictsIn(queue: number, range: Positions): StoredItemVerdict[];
  /** The guard's flags of the runs that it checked. */
  flagsIn(queue: number, range: Positions): { readonly item: number; readonly flags: string[] }[];
  /** In no order, without removed ones. */
  populationRuns(sequences: readonly number[], itemType: 'conversation' | 'run'): PopulationRun[];
}

const removedAtOnce = 100;

type ViewInput = Omit<ViewOf, 'view'> & { readonly queue: number };
type ViewPage = ViewInput & { readonly offset: number; readonly limit: number };

function queueStatements(database: Database.Database) {
  return {
    page: database.prepare<{ before: number; limit: number }, QueueRow>(
      'SELECT * FROM review_queues WHERE is_hidden = 0 AND sequence < @before ORDER BY sequence DESC LIMIT @limit',
    ),
    find: database.prepare<[string], QueueRow>('SELECT * FROM review_queues WHERE is_hidden = 0 AND id = ?'),
    insert: database.prepare(
      `INSERT INTO review_queues (id, installation_id, is_hidden, is_imported, name, input_json, sampling_json, rubric_id,
         rubric_json, created_at)
       VALUES (@id, @installationId, 2, @isImported, @name, @input, @sampling, @rubricId, @rubric, @createdAt)`,
    ),
    ofSequence: database.prepare<[number], QueueRow>('SELECT * FROM review_queues WHERE sequence = ?'),
    open: database.prepare<[], QueueRow>(
      "SELECT * FROM review_queues WHERE is_hidden = 0 AND is_imported = 0 AND sampling_json ->> '$.isOpen' = 1 ORDER BY sequence",
    ),
    sampling: database.prepare<[string, number]>('UPDATE review_queues SET sampling_json = ? WHERE sequence = ?'),
    rename: database.prepare<[string, number]>('UPDATE review_queues SET name = ? WHERE sequence = ?'),
    teamChange: database.prepare<[number | null, number]>(
      'UPDATE review_queues SET team_change = ? WHERE sequence = ?',
    ),
    removedItems: database
      .prepare<[number], string>('SELECT id FROM review_items WHERE queue = ? AND is_removed = 1')
      .pluck(),
    removeItem: database.prepare<[number]>(markItemRemoved),
    removeReviews: database.prepare<[number]>('DELETE FROM reviews WHERE item = ?'),
    removeContent: database.prepare<[number]>('DELETE FROM review_item_contents WHERE item = ?'),
    removeComments: database.prepare<[number]>(removeCommentsOf),
    show: database.prepare<[number, number]>('UPDATE review_queues SET is_hidden = ? WHERE sequence = ?'),
    remove: database.prepare<[number]>('UPDATE review_queues SET is_hidden = 1, team_change = NULL WHERE sequence = ?'),
    unpublished: database.prepare<[], QueueRow>(
      'SELECT * FROM review_queues WHERE is_hidden = 1 AND is_imported = 0 AND team_change IS NOT NULL',
    ),
    hidden: database
      .prepare<[], number>(
        'SELECT sequence FROM review_queues WHERE is_hidden = 1 AND (is_imported = 1 OR team_change IS NULL) LIMIT 1',
      )
      .pluck(),
    removeItems: database.prepare<[number, number]>(
      'DELETE FROM review_items WHERE sequence IN (SELECT sequence FROM review_items WHERE queue = ? LIMIT ?)',
    ),
    removeReservations: database.prepare<[number]>('DELETE FROM review_reservations WHERE queue = ?'),
    removeQueue: database.prepare<[number]>('DELETE FROM review_queues WHERE sequence = ?'),
    counts: database.prepare<[number], ReviewQueue['counts']>(
      `SELECT count(*) - coalesce(sum(is_removed), 0) AS items,
         coalesce(sum(done >= needed AND is_removed = 0), 0) AS done,
         coalesce(sum(done), 0) AS reviews,
         coalesce(sum(CASE WHEN is_removed = 0 THEN max(needed, done) END), 0) AS reviewsNeeded,
         coalesce(sum(is_disagreeing = 1 AND done >= needed AND is_removed = 0), 0) AS disagreeing,
         count(CASE WHEN is_removed = 0 THEN gold_at END) AS adjudicated,
         coalesce(sum(is_removed), 0) AS removed
       FROM review_items WHERE queue = ?`,
    ),
  };
}

const selectItems = `SELECT ${itemColumns} FROM review_items LEFT JOIN runs ON runs.id = run_id`;

function viewStatements(database: Database.Database) {
  const inView = (view: ItemView) => {
    const where = `queue = @queue AND ${viewConditions[view]}`;
    return {
      page: database.prepare<[ViewPage], StoredItem>(
        // Runs are looked up for the rows of the page only.
        `${selectItems} WHERE review_items.sequence IN (
           SELECT sequence FROM review_items WHERE ${where} ORDER BY position LIMIT @limit OFFSET @offset)
         ORDER BY position`,
      ),
      count: database.prepare<[ViewInput], number>(`SELECT count(*) FROM review_items WHERE ${where}`).pluck(),
    };
  };
  return {
    all: inView('all'),
    open: inView('open'),
    mine: inView('mine'),
    done: inView('done'),
    skipped: inView('skipped'),
    flagged: inView('flagged'),
    secondReview: inView('secondReview'),
  } satisfies Record<ItemView, unknown>;
}

function itemStatements(database: Database.Database) {
  return {
    views: viewStatements(database),
    range: database.prepare<[number, number, number], StoredItem>(
      `${selectItems} WHERE queue = ? AND position >= ? ORDER BY position LIMIT ?`,
    ),
    chosen: database.prepare<[string, number, number, number], ChosenItem>(
      `SELECT CASE ? WHEN 'run' THEN run_id ELSE conversation_id END AS id, stratum, needed - (second_json IS NOT NULL) AS needed FROM review_items
       WHERE queue = ? AND position >= ? AND position < ?`,
    ),
    count: database.prepare<[number], number>('SELECT count(*) FROM review_items WHERE queue = ?').pluck(),
    find: database.prepare<[string, number], StoredItem>(`${selectItems} WHERE review_items.id = ? AND queue = ?`),
    content: database.prepare<[number], string>('SELECT content_json FROM review_item_contents WHERE item = ?').pluck(),
    verdicts: database.prepare<[number, number, number], StoredItemVerdict>(
      `SELECT review_items.sequence AS item, judges.id AS judgeId, input_json ->> '$.name' AS name, input_json AS inputJson,
         verdict_json AS verdictJson
       FROM judges CROSS JOIN review_items JOIN judge_verdicts AS given ON judge = judges.sequence AND given.run_id = review_items.run_id
       WHERE queue = ? AND position >= ? AND position < ?`,
    ),
    flags: database.prepare<[number, number, number], { item: number; flags: string | null }>(
      `SELECT review_items.sequence AS item, moderation_flags AS flags
       FROM review_items JOIN runs ON runs.id = run_id JOIN run_texts ON run = runs.sequence
       WHERE queue = ? AND position >= ? AND position < ? AND moderation_json IS NOT NULL`,
    ),
    insert: database.prepare(
      `INSERT INTO review_items (queue, position, id, conversation_id, run_id, stratum, is_flagged, needed, second_json)
       VALUES (@queue, @position, @id, @conversationId, @runId, @stratum, @isFlagged, @needed, @secondJson)`,
    ),
    insertContent: database.prepare<[number | bigint, string]>(
      'INSERT INTO review_item_contents (item, content_json) VALUES (?, ?)',
    ),
    population: database.prepare<{ sequences: string; isRun: number }, PopulationRun>(
      `SELECT runs.sequence, runs.id AS runId, conversations.id AS conversationId, ai_system || '/' || model AS model,
         score, score_tags AS tags, runs.created_at AS createdAt,
         CASE @isRun WHEN 1 THEN moderation_flags IS NOT NULL ELSE EXISTS (
           SELECT 1 FROM runs AS other WHERE other.conversation = runs.conversation AND other.moderation_flags IS NOT NULL) END AS isFlagged
       FROM json_each(@sequences) AS given JOIN runs ON runs.sequence = given.value
       JOIN conversations ON conversations.sequence = conversation LEFT JOIN feedback ON feedback.run = runs.sequence`,
    ),
  };
}

/** Ids come from files of other installations, too. */
function requireUnique<Result>(write: () => Result, message: string): Result {
  try {
    return write();
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE')
      throw new AppError('conflict', message, { cause: error });
    throw error;
  }
}

export function createQueueStore(
  database: Database.Database,
  { tokenSecret, installationId }: { readonly tokenSecret: string; readonly installationId: string },
): QueueStore {
  const queues = queueStatements(database);
  const items = itemStatements(database);
  // A crash can leave a queue without all of its items.
  database.exec('UPDATE review_queues SET is_hidden = 1 WHERE is_hidden = 2');

  function find(id: string): StoredQueue | null {
    const row = queues.find.get(id.toLowerCase());
    return row ? queueOf(row) : null;
  }

  function read(id: string): StoredQueue {
    const found = find(id);
    if (!found) throw new AppError('not_found', 'No review queue has this ID.');
    return found;
  }

  const append = database.transaction((queue: number, position: number, added: readonly NewItem[]) => {
    for (const [index, { content, isFlagged, second, ...item }] of added.entries()) {
      const secondJson = second ? JSON.stringify(second) : null;
      const row = { ...item, queue, position: position + index, isFlagged: Number(isFlagged), secondJson };
      const { lastInsertRowid } = items.insert.run(row);
      if (content) items.insertContent.run(lastInsertRowid, JSON.stringify(content));
    }
  });

  const removeSome = database.transaction((): boolean => {
    const queue = queues.hidden.get();
    if (queue === undefined) return false;
    if (queues.removeItems.run(queue, removedAtOnce).changes > 0) return true;
    queues.removeReservations.run(queue);
    queues.removeQueue.run(queue);
    return true;
  });

  return {
    installationId,
    list: newestList({ tokenSecret, name: 'review queues', rows: (input) => queues.page.all(input), toItem: queueOf }),
    find,
    read,
    readSequence: (sequence) => queueOf(queues.ofSequence.get(sequence)!),
    setTeamChange: (queue, change) => void queues.teamChange.run(change, queue),
    unpublished: () => queues.unpublished.all().map(queueOf),
    rename: (queue, name) => void queues.rename.run(name, queue),
    openQueues: () => queues.open.all().map(queueOf),
    setSampling: (queue, { population, strata, isOpen, filledDay }) =>
      void queues.sampling.run(JSON.stringify({ population, strata, isOpen, filledDay }), queue),
    chosenIn: ({ sequence, plan }, { from, to }) => items.chosen.all(plan.itemType, sequence, from, to),
    removedItems: (queue) => queues.removedItems.all(queue),
    removeItem(item) {
      for (const part of ['removeReviews', 'removeComments', 'removeItem', 'removeContent'] as const)
        queues[part].run(item);
    },
    create({ plan, rubric, population, strata, isOpen, filledDay, isImported, ...queue }) {
      const row = {
        ...queue,
        isImported: Number(isImported),
        input: JSON.stringify(plan),
        sampling: JSON.stringify({ population, strata, isOpen, filledDay }),
        rubricId: rubric.id,
        rubric: JSON.stringify(rubric),
      };
      const { lastInsertRowid } = requireUnique(
        () => queues.insert.run(row),
        'A queue with this ID is being imported or deleted. Try again in a moment.',
      );
      return Number(lastInsertRowid);
    },
    append: (queue, position, added) =>
      requireUnique(
        () => append.immediate(queue, position, added),
        'An item is given twice, or belongs to another queue.',
      ),
    show: (queue) => void queues.show.run(0, queue),
    hide: (queue) => void queues.show.run(1, queue),
    remove: (id) => void queues.remove.run(read(id).sequence),
    removeSome: () => removeSome.immediate(),
    counts: (queue) => queues.counts.get(queue)!,
    items: (queue, { offset, limit }) => items.range.all(queue, offset, limit),
    itemCount: (queue) => items.count.get(queue)!,
    view: (queue, { view, ...of }, range) => items.views[view].page.all({ queue, ...of, ...range }),
    viewCount: (queue, { view, ...of }) => items.views[view].count.get({ queue, ...of })!,
    item(queue, id) {
      const found = items.find.get(id.toLowerCase(), queue);
      if (!found) throw new AppError('not_found', 'No item of this review queue has this ID.');
      return found;
    },
    hasItem: (queue, id) => items.find.get(id.toLowerCase(), queue) !== undefined,
    content(item) {
      const json = items.content.get(item);
      return json === undefined ? null : (JSON.parse(json) as ImportedRun[]);
    },
    verdictsIn: (queue, { from, to }) => items.verdicts.all(queue, from, to),
    flagsIn: (queue, { from, to }) =>
      items.flags.all(queue, from, to).map(({ item, flags }) => ({ item, flags: flags?.split(',') ?? [] })),
    populationRuns: (sequences, itemType) =>
      items.population.all({ sequences: JSON.stringify(sequences), isRun: Number(itemType === 'run') }),
  };
}
