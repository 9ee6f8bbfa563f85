import { z } from 'zod';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { type Draft, type DraftChange, noGrounding } from '../../../stores/playground-drafts.ts';
import { parseJson } from '../../../drafts/json-text.ts';
import { readConfiguration, writeConfiguration, writeParameters } from '../../../drafts/parameter-model.ts';
import { readFields, readReplacements, writeFields } from '../../../drafts/variable-model.ts';
import type { CompletionRequest } from '../../../../shared/contract/completions.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import type { RunDetail } from '../../../../shared/contract/runs.ts';
import type { GroundingChoice } from '../../../../shared/contract/grounding.ts';
import { readTemplate } from '../template-state.ts';

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

/** The texts that a restored run couldn't derive from its values; null if there are none. */
export function readJsonFieldTexts(draft: Fields): JsonFieldTexts | null {
  const { variables } = parseTemplate(draft.promptText);
  const fields = readFields(variables, draft);
  const derived = writeFields(variables, readReplacements(fields));
  const typed = fields.filter(
    ({ name, isJson, isFilled, problem, text }) =>
      isJson && isFilled && problem === null && (text !== derived.values[name] || !derived.jsonNames.includes(name)),
  );
  const { parameters, otherParameters } = draft;
  const written = writeParameters(readConfiguration({ parameters, otherParameters }, null).configuration);
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

/** Restores typed texts whose values are still those of the run. Other callers may write any metadata. */
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

/** Why a draft can't run, and where to fix that. */
export interface Blocker {
  message: string;
  location:
    { kind: 'prompt'; offset: number } | { kind: 'variable'; name: string } | { kind: 'parameter'; name: string };
}

export type RunRequest = { request: CompletionRequest } | { blocker: Blocker };

/** The request of a draft, without the metadata that the window adds. */
export function readRequest(draft: Draft, model: Model | null): RunRequest {
  const template = parseTemplate(draft.promptText);
  const { fields, replacements, mistakes, missingFile } = readTemplate(template, template.variables, draft);
  const { configuration, problems } = readConfiguration(draft, model);
  const [mistake] = mistakes;
  const field = fields.find(({ problem }) => problem !== null);
  const [problem] = problems;
  if (draft.promptText.trim() === '')
    return { blocker: { message: 'Write a prompt first', location: { kind: 'prompt', offset: 0 } } };
  if (mistake) {
    const message = `Line ${mistake.line}, column ${mistake.column}: ${mistake.message}`;
    return { blocker: { message, location: { kind: 'prompt', offset: mistake.start } } };
  }
  if (field)
    return {
      blocker: { message: `${field.name}: ${field.problem}`, location: { kind: 'variable', name: field.name } },
    };
  if (missingFile)
    return {
      blocker: { message: `${missingFile.name}: add a file`, location: { kind: 'variable', name: missingFile.name } },
    };
  if (problem)
    return {
      blocker: { message: `${problem.name}: ${problem.problem}`, location: { kind: 'parameter', name: problem.name } },
    };
  return {
    request: {
      promptText: draft.promptText,
      ...(draft.systemMessage !== '' && { systemMessage: draft.systemMessage }),
      aiSystem: draft.aiSystem,
      model: draft.model,
      ...(Object.keys(configuration).length > 0 && { configuration }),
      ...(Object.keys(replacements).length > 0 && { replacements }),
      ...(draft.grounding &&
        draft.grounding.dataspaceIds.length > 0 && { dataspaceIds: [...draft.grounding.dataspaceIds] }),
    },
  };
}

/** The passages that a person pinned or excluded; null when only the search decides. */
export function readChoice({ grounding }: Pick<Draft, 'grounding'>): GroundingChoice | null {
  if (!grounding || grounding.dataspaceIds.length === 0) return null;
  const { pinned, excluded } = grounding;
  return pinned.length + excluded.length === 0 ? null : { pinned: [...pinned], excluded: [...excluded] };
}

/**
 * The request of a draft as the playground sends it. The draft's id adds the run to its history. The id of the version that it was
 * opened from makes it a run of that version, if nothing was edited. The texts of JSON fields restore them exactly.
 */
export function asSent(request: CompletionRequest, draft: Draft): CompletionRequest {
  const { id, source } = draft;
  const texts = readJsonFieldTexts(draft);
  return {
    ...request,
    metadata: {
      draftId: id,
      ...(source && { promptVersionId: source.versionId }),
      ...(texts && { jsonFieldTexts: texts }),
    },
  };
}

/** The change that restores a run in a draft. Values of variables that the run doesn't use stay. */
export function restoredDraft(run: RunDetail, draft: Pick<Draft, 'values' | 'tools'>): DraftChange {
  const { promptText, systemMessage, replacements, configuration, dataspaceIds } = run.input;
  const { variables } = parseTemplate(promptText);
  const { parameters, otherParameters, ...tools } = writeConfiguration(configuration, draft.tools);
  const derived = { ...writeFields(variables, replacements), parameters, otherParameters };
  const { values, ...fields } = withJsonFieldTexts(derived, run.metadata);
  const empty = Object.fromEntries(variables.map(({ name }) => [name, '']));
  return {
    promptText,
    systemMessage: systemMessage ?? '',
    aiSystem: run.aiSystem,
    model: run.model,
    values: { ...draft.values, ...empty, ...values },
    ...fields,
    ...tools,
    grounding: { ...noGrounding, dataspaceIds: dataspaceIds ?? [] },
    shownRunId: run.runId,
  };
}
