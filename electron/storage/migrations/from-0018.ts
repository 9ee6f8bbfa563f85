import type Database from 'better-sqlite3';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import { titleOf } from '../run-rows.ts';

/** Null for a template that can't be rendered any more. */
function renderAgain(promptText: string, replacementsJson: string | null): string | null {
  try {
    const replacements = JSON.parse(replacementsJson ?? '{}') as Record<string, unknown>;
    return renderTemplate(parseTemplate(promptText), replacements).text;
  } catch {
    return null;
  }
}

/** Registers `rendered_title` for the migrations: the title of a run that was recorded by an earlier version. */
export function registerRenderedTitle(database: Database.Database): void {
  database.function(
    'rendered_title',
    { deterministic: true },
    (promptText: string, replacementsJson: string | null, renderedPrompt: string, dataspaceIdsJson: string | null) => {
      // The prompt of a run with dataspaces is stored as it was sent, which starts with the passages.
      const isGrounded = dataspaceIdsJson !== null && dataspaceIdsJson !== '[]';
      return titleOf((isGrounded ? renderAgain(promptText, replacementsJson) : null) ?? renderedPrompt);
    },
  );
}

/**
 * 18. Earlier versions named runs and conversations by the first line of the template. Now the name is the first words of the rendered
 * prompt, or the stored prompt's name. Only first lines with `{{` differ, so only these are read: a million runs without variables
 * take about a second.
 */
export const renderedTitles = `
  UPDATE runs SET title = (
      SELECT rendered_title(prompt_text, replacements_json, rendered_prompt, dataspace_ids_json)
      FROM run_texts WHERE run_texts.run = runs.sequence
    )
    WHERE instr(title, '{{') > 0 AND is_anonymous = 0;

  UPDATE conversations SET name = (
      SELECT coalesce(prompts.name, runs.title) FROM runs LEFT JOIN prompts ON prompts.id = runs.prompt_id
      WHERE runs.conversation = conversations.sequence ORDER BY runs.sequence LIMIT 1
    )
    WHERE name <> 'Anonymised' AND id NOT IN (SELECT id FROM sample_conversations) AND (
      instr(name, '{{') > 0 AND EXISTS (SELECT 1 FROM runs WHERE runs.conversation = conversations.sequence)
      OR (SELECT prompt_id FROM runs WHERE runs.conversation = conversations.sequence ORDER BY runs.sequence LIMIT 1)
        IN (SELECT id FROM prompts)
    );
`;

/** 19. Limits of an API key per minute; null is no limit. */
export const keyLimitColumns = `
  ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER;
  ALTER TABLE api_keys ADD COLUMN tokens_per_minute INTEGER;
`;

/** 20. Tokens by class and the usage object as the provider reported them, and the date of the prices. Null for earlier runs. */
export const usageDetails = `
  ALTER TABLE runs ADD COLUMN cached_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN cache_write_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN reasoning_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN prices_from TEXT;
  ALTER TABLE run_texts ADD COLUMN usage_json TEXT;
`;

/** 21. The messages of a run's prompt, if there are several. Null for a single message, whose text is the rendered prompt. */
export const messages = `
  ALTER TABLE run_texts ADD COLUMN messages_json TEXT;
`;

/**
 * 22. Files of prompts; their content is in the folder `files`. `file_callers` holds who sent a file under which name, `run_files`
 * which runs use it. Triggers update `run_files` when the messages of a run change.
 */
export const files = `
  CREATE TABLE files (
    id TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    width INTEGER,
    height INTEGER,
    pages INTEGER,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file_callers (
    file TEXT NOT NULL,
    caller_id TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (file, caller_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE run_files (
    file TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (file, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_files_by_run ON run_files (run);

  CREATE TRIGGER files_of_new_run AFTER INSERT ON run_texts
  WHEN instr(new.messages_json, '"type":"file"') BEGIN
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(new.messages_json) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

  CREATE TRIGGER files_of_changed_run AFTER UPDATE OF messages_json ON run_texts
  WHEN old.messages_json IS NOT new.messages_json BEGIN
    DELETE FROM run_files WHERE run = new.run;
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(coalesce(new.messages_json, '[]')) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

  CREATE TRIGGER files_of_removed_run AFTER DELETE ON run_texts BEGIN
    DELETE FROM run_files WHERE run = old.run;
  END;
`;

/** 23. The tool calls in a run's answer, with the data that the provider needs back. Null if there are none. */
export const toolCalls = `
  ALTER TABLE run_texts ADD COLUMN tool_calls_json TEXT;
`;
