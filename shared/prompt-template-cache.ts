import { parseTemplate, type ParsedTemplate } from './prompt-template.ts';

/**
 * Remembers the templates that were parsed last, as the same prompt is usually run many times. Texts without tags are not
 * kept: parsing them costs less than looking them up.
 */
export function createTemplateCache(
  limits = { templates: 200, characters: 4 * 1_048_576 },
): (text: string) => ParsedTemplate {
  const kept = new Map<string, ParsedTemplate>();
  let characters = 0;
  return (text) => {
    if (!text.includes('{{')) return parseTemplate(text);
    const known = kept.get(text);
    // A map keeps the order of insertion: what was used last goes to the end.
    if (known) kept.delete(text);
    else characters += text.length;
    const template = known ?? parseTemplate(text);
    kept.set(text, template);
    for (const oldest of kept.keys()) {
      if (kept.size <= limits.templates && characters <= limits.characters) break;
      kept.delete(oldest);
      characters -= oldest.length;
    }
    return template;
  };
}
