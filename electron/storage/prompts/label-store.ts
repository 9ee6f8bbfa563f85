import type Database from 'better-sqlite3';
import { z } from 'zod';
import { AppError } from '../../../shared/app-error.ts';
import type { PromptLabel, PromptLabelChange } from '../../../shared/contract/prompt-library.ts';
import { createContinuationTokens } from '../continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from '../list-page.ts';

interface LabelRow {
  readonly label: string;
  readonly prompt_id: string;
  readonly version_id: string;
  readonly version: number;
  readonly number: number;
  readonly updated_at: number;
}

interface ChangeRow {
  readonly sequence: number;
  readonly label: string;
  readonly previous_id: string | null;
  readonly version_id: string | null;
  readonly changed_at: number;
}

/** The `sequence` and id of a version that a label can point to. */
export interface LabelledVersion {
  readonly sequence: number;
  readonly id: string;
}

/** Labels of prompts by the prompt's `sequence`. Every change is recorded with the previous version. */
export interface LabelStore {
  names(prompt: number): string[];
  find(prompt: number, label: string): PromptLabel | null;
  /**
   * Points a label to a version. Records nothing if it already did. Throws `conflict` if the label doesn't point to a given
   * `previousVersionId`. Call it in an immediate transaction, so that check and change are one step.
   */
  set(prompt: number, label: string, version: LabelledVersion, previousVersionId: string | null | undefined): void;
  /** Returns false if there is no such label. Call it in an immediate transaction, too. */
  remove(prompt: number, label: string): boolean;
  /** Newest first. Throws `invalid_request` for a token of another list. */
  changes(prompt: number, query: ListQuery): ListPage<PromptLabelChange>;
}

function labelOf(row: LabelRow): PromptLabel {
  return {
    label: row.label,
    promptId: row.prompt_id,
    promptVersionId: row.version_id,
    versionNumber: row.number,
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

function changeOf(row: ChangeRow): PromptLabelChange {
  return {
    label: row.label,
    previousVersionId: row.previous_id,
    promptVersionId: row.version_id,
    changedAt: new Date(row.changed_at).toISOString(),
  };
}

function rejectMoved(label: string, current: LabelRow | undefined, expected: string | null | undefined): void {
  if (expected === undefined || (expected?.toLowerCase() ?? null) === (current?.version_id ?? null)) return;
  const state = current ? `now points to version ${current.number}` : "isn't set";
  throw new AppError('conflict', `The label ${label} ${state}. Reload the prompt and try again.`, {
    details: [{ field: 'previousVersionId', issue: 'is not the version that the label points to' }],
  });
}

function labelStatements(database: Database.Database) {
  return {
    names: database
      .prepare<[number], string>('SELECT label FROM prompt_labels WHERE prompt = ? ORDER BY label')
      .pluck(),
    find: database.prepare<[prompt: number, label: string], LabelRow>(
      `SELECT label, prompts.id AS prompt_id, prompt_versions.id AS version_id, version, number, prompt_labels.updated_at
       FROM prompt_labels JOIN prompts ON prompts.sequence = prompt_labels.prompt
         JOIN prompt_versions ON prompt_versions.sequence = version
       WHERE prompt_labels.prompt = ? AND label = ?`,
    ),
    write: database.prepare<[prompt: number, label: string, version: number, at: number]>(
      'INSERT OR REPLACE INTO prompt_labels (prompt, label, version, updated_at) VALUES (?, ?, ?, ?)',
    ),
    remove: database.prepare<[prompt: number, label: string]>(
      'DELETE FROM prompt_labels WHERE prompt = ? AND label = ?',
    ),
    note: database.prepare<
      [prompt: number, label: string, previous: number | null, version: number | null, at: number]
    >(`INSERT INTO prompt_label_changes (prompt, label, previous_version, version, changed_at) VALUES (?, ?, ?, ?, ?)`),
    changes: database.prepare<[prompt: number, before: number, limit: number], ChangeRow>(
      `SELECT changes.sequence, label, previous.id AS previous_id, next.id AS version_id, changed_at
       FROM prompt_label_changes changes LEFT JOIN prompt_versions previous ON previous.sequence = previous_version
         LEFT JOIN prompt_versions next ON next.sequence = version
       WHERE changes.prompt = ? AND changes.sequence < ? ORDER BY changes.sequence DESC LIMIT ?`,
    ),
  };
}

export function createLabelStore(database: Database.Database, tokenSecret: string): LabelStore {
  const statements = labelStatements(database);
  const tokens = createContinuationTokens(tokenSecret, 'prompt-label-changes', z.int());
  return {
    names: (prompt) => statements.names.all(prompt),
    find(prompt, label) {
      const row = statements.find.get(prompt, label);
      return row === undefined ? null : labelOf(row);
    },
    set(prompt, label, version, previousVersionId) {
      const current = statements.find.get(prompt, label);
      rejectMoved(label, current, previousVersionId);
      if (current?.version === version.sequence) return;
      const now = Date.now();
      statements.write.run(prompt, label, version.sequence, now);
      statements.note.run(prompt, label, current?.version ?? null, version.sequence, now);
    },
    remove(prompt, label) {
      const current = statements.find.get(prompt, label);
      if (!current) return false;
      statements.remove.run(prompt, label);
      statements.note.run(prompt, label, current.version, null, Date.now());
      return true;
    },
    changes: (prompt, query) =>
      listPage(query, {
        tokens,
        filter: { prompt },
        rows: (before, limit) => statements.changes.all(prompt, before, limit),
        positionOf: ({ sequence }) => sequence,
        toItem: changeOf,
      }),
  };
}
