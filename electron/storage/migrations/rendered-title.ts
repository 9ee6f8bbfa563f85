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

/** Makes `rendered_title` known to the migrations: the title of a run that was recorded by an earlier version. */
export function registerRenderedTitle(database: Database.Database): void {
  database.function(
    'rendered_title',
    { deterministic: true },
    (promptText: string, replacementsJson: string | null, renderedPrompt: string, dataspaceIdsJson: string | null) => {
      // A run with dataspaces keeps the prompt as it was sent, which begins with the passages.
      const isGrounded = dataspaceIdsJson !== null && dataspaceIdsJson !== '[]';
      return titleOf((isGrounded ? renderAgain(promptText, replacementsJson) : null) ?? renderedPrompt);
    },
  );
}
