import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Warning } from '../../shared/contract/completions.ts';
import { createTemplateCache, renderTemplate, requireRunnable } from '../../shared/prompt-template.ts';

export interface RenderedPrompt {
  readonly text: string;
  /** A `variable-unfilled` for each placeholder without a replacement. */
  readonly warnings: Warning[];
}

const parse = createTemplateCache();

/** Characters from which parsing a template may take more than a few milliseconds. */
const longTemplate = 8192;

/**
 * Parses a long template, which takes up to 150 ms, in a separate turn of the event loop. Rendering or storing it then uses the cached
 * result.
 */
export async function parseAhead(promptText: string): Promise<void> {
  if (promptText.length <= longTemplate) return;
  parse(promptText);
  await nextTurn();
}

/** Throws `invalid_request` with line and column for a template that cannot be run. */
export function requirePrompt(promptText: string): void {
  requireRunnable(parse(promptText));
}

/** Fills a prompt template. Throws `invalid_request` with line and column for a template that cannot be run. */
export function renderPrompt(promptText: string, replacements: Readonly<Record<string, unknown>>): RenderedPrompt {
  const { text, unfilled } = renderTemplate(parse(promptText), replacements);
  const warnings = unfilled.map((variable): Warning => {
    const message = `{{${variable}}} has no value and renders empty.`;
    return { code: 'variable-unfilled', message, variable };
  });
  return { text, warnings };
}
