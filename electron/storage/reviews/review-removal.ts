import type Database from 'better-sqlite3';
import type { ReviewAnswer } from '../../../shared/contract/review-items.ts';
import type { RubricItem } from '../../../shared/contract/rubrics.ts';

/** What becomes of reviews when runs are deleted or anonymised. Call its methods in a transaction, before the run changes. */
export interface ReviewRemoval {
  /** Deletes the reviews of the items that stand for the run, and what people wrote about its conversation. */
  remove(run: number): void;
  /** Deletes what people wrote about the run's conversation. Other answers stay, for figures, except in a shared queue. */
  anonymise(run: number): void;
}

interface ReviewedItem {
  readonly sequence: number;
  readonly runId: string;
  readonly goldJson: string | null;
  readonly rubricJson: string;
  readonly isShared: number;
}

export const markItemRemoved = `UPDATE review_items SET is_removed = 1, done = 0, is_disagreeing = 0, gold_json = NULL,
  gold_by = NULL, gold_at = NULL, needed = needed - (second_json IS NOT NULL), second_json = NULL WHERE sequence = ?`;
export const removeCommentsOf = 'DELETE FROM review_comments WHERE item = ?';

function statements(database: Database.Database) {
  const items = `SELECT review_items.sequence, run_id AS runId, gold_json AS goldJson, rubric_json AS rubricJson,
      team_change IS NOT NULL AS isShared
    FROM review_items JOIN review_queues ON review_queues.sequence = queue`;
  return {
    run: database.prepare<[number], { runId: string; conversationId: string }>(
      `SELECT runs.id AS runId, conversations.id AS conversationId FROM runs JOIN conversations ON conversations.sequence = conversation
       WHERE runs.sequence = ?`,
    ),
    // Of a queue of conversations, or of the run itself.
    items: database.prepare<{ runId: string; conversationId: string }, ReviewedItem>(
      `${items} WHERE run_id = @runId
       UNION ${items} WHERE conversation_id = @conversationId AND input_json ->> '$.itemType' = 'conversation'`,
    ),
    reviews: database.prepare<[number], { id: string; answersJson: string }>(
      "SELECT id, answers_json AS answersJson FROM reviews WHERE item = ? AND kind = 'review'",
    ),
    removeReviews: database.prepare<[number]>('DELETE FROM reviews WHERE item = ?'),
    release: database.prepare<[number]>('DELETE FROM review_reservations WHERE item = ?'),
    markRemoved: database.prepare<[number]>(markItemRemoved),
    removeContent: database.prepare<[number]>('DELETE FROM review_item_contents WHERE item = ?'),
    removeComments: database.prepare<[number]>(removeCommentsOf),
    removeReason: database.prepare<[number]>(
      "UPDATE review_items SET second_json = json_set(second_json, '$.reason', NULL) WHERE sequence = ? AND second_json IS NOT NULL",
    ),
    setAnswers: database.prepare<[string, string]>('UPDATE reviews SET answers_json = ? WHERE id = ?'),
    removeNotes: database.prepare<[number]>('UPDATE reviews SET note = NULL WHERE item = ?'),
    setGold: database.prepare<[string, number]>('UPDATE review_items SET gold_json = ? WHERE sequence = ?'),
  };
}

function withoutTexts(answersJson: string, rubric: readonly RubricItem[]): string {
  const texts = new Set(rubric.filter(({ kind }) => kind === 'text').map(({ id }) => id));
  const answers = (JSON.parse(answersJson) as ReviewAnswer[]).filter(({ rubricItemId }) => !texts.has(rubricItemId));
  return JSON.stringify(answers.map((answer) => ({ ...answer, note: null })));
}

export function createReviewRemoval(database: Database.Database): ReviewRemoval {
  const query = statements(database);

  function itemsOf(run: number): { items: ReviewedItem[]; runId: string } {
    const found = query.run.get(run);
    return { items: found ? query.items.all(found) : [], runId: found?.runId ?? '' };
  }

  function removeTexts({ sequence, goldJson, rubricJson }: ReviewedItem): void {
    const rubric = (JSON.parse(rubricJson) as { items: RubricItem[] }).items;
    for (const { id, answersJson } of query.reviews.all(sequence))
      query.setAnswers.run(withoutTexts(answersJson, rubric), id);
    query.removeNotes.run(sequence);
    query.removeComments.run(sequence);
    query.removeReason.run(sequence);
    if (goldJson !== null) query.setGold.run(withoutTexts(goldJson, rubric), sequence);
  }

  function removeItem({ sequence }: ReviewedItem): void {
    query.removeReviews.run(sequence);
    query.removeComments.run(sequence);
    query.release.run(sequence);
    query.removeContent.run(sequence);
    query.markRemoved.run(sequence);
  }

  return {
    remove(run) {
      const { items, runId } = itemsOf(run);
      for (const item of items) {
        if (item.runId === runId || item.isShared === 1) removeItem(item);
        else removeTexts(item);
      }
    },
    anonymise(run) {
      // The other hosts of a shared queue have the texts, and only a removed item has none.
      for (const item of itemsOf(run).items)
        if (item.isShared === 1) removeItem(item);
        else removeTexts(item);
    },
  };
}
