import { z } from 'zod';
import { parseTemplate } from '../../shared/prompt-template.ts';
import type { Draft } from '../stores/playground-drafts.ts';
import { parseJson } from './json-text.ts';
import { readConfiguration, writeParameters } from './parameter-model.ts';
import { readFields, readReplacements, writeFields } from './variable-model.ts';

/**
 * JSON as it was typed. A run keeps values, so white space, key order and number formats would be lost when it is restored. These
 * texts travel in the run's metadata, and only where the text can't be derived from its value.
 */
const jsonFieldTexts = z.object({
  variables: z.record(z.string(), z.string()).default({}),
  responseFormat: z.string().optional(),
  otherParameters: z.string().optional(),
});
export type JsonFieldTexts = z.infer<typeof jsonFieldTexts>;

/** Longer texts are restored in the standard format: the values are in the request already. */
const maxTextCharacters = 1_000_000;

type Fields = Pick<Draft, 'promptText' | 'values' | 'jsonNames' | 'parameters' | 'otherParameters'>;
type FieldTexts = Pick<Draft, 'values' | 'jsonNames' | 'parameters' | 'otherParameters'>;

/** Whether two texts are JSON with the same value. */
function isSameJson(text: string, other: string): boolean {
  const [one, two] = [parseJson(text), parseJson(other)];
  return 'value' in one && 'value' in two && JSON.stringify(one.value) === JSON.stringify(two.value);
}

/** The texts that a restored run couldn't derive from its values; null where there are none. */
export function readJsonFieldTexts(draft: Fields): JsonFieldTexts | null {
  const { variables } = parseTemplate(draft.promptText);
  const fields = readFields(variables, draft);
  const derived = writeFields(variables, readReplacements(fields));
  const typed = fields.filter(
    ({ name, isJson, isFilled, problem, text }) =>
      isJson && isFilled && problem === null && (text !== derived.values[name] || !derived.jsonNames.includes(name)),
  );
  const written = writeParameters(readConfiguration(draft, null).configuration);
  const format = draft.parameters.response_format ?? '';
  const texts: JsonFieldTexts = {
    variables: Object.fromEntries(typed.map(({ name, text }) => [name, text])),
    ...(format.trimStart().startsWith('{') &&
      format !== written.parameters.response_format && { responseFormat: format }),
    ...(draft.otherParameters.trim() !== '' &&
      draft.otherParameters !== written.otherParameters && { otherParameters: draft.otherParameters }),
  };
  const { length } = JSON.stringify(texts);
  const isEmpty = typed.length === 0 && texts.responseFormat === undefined && texts.otherParameters === undefined;
  return isEmpty || length > maxTextCharacters ? null : texts;
}

/** Puts back what was typed wherever it still has the value that the run was made with. Other callers may write any metadata. */
export function withJsonFieldTexts(derived: FieldTexts, metadata: Record<string, unknown> | null): FieldTexts {
  const read = jsonFieldTexts.safeParse(metadata?.['jsonFieldTexts']);
  if (!read.success) return derived;
  const { variables, responseFormat, otherParameters } = read.data;
  const values = { ...derived.values };
  const jsonNames = [...derived.jsonNames];
  for (const [name, text] of Object.entries(variables)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) continue;
    if (!isSameJson(text, jsonNames.includes(name) ? value : JSON.stringify(value))) continue;
    values[name] = text;
    if (!jsonNames.includes(name)) jsonNames.push(name);
  }
  const format = derived.parameters.response_format ?? '';
  const isSameFormat = responseFormat !== undefined && isSameJson(responseFormat, format);
  const isSameOthers = otherParameters !== undefined && isSameJson(otherParameters, derived.otherParameters);
  return {
    values,
    jsonNames,
    parameters: isSameFormat ? { ...derived.parameters, response_format: responseFormat } : derived.parameters,
    otherParameters: isSameOthers ? otherParameters : derived.otherParameters,
  };
}
