import type { CompletionRequest } from '../../../../shared/contract/completions.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import type { RunDetail } from '../../../../shared/contract/runs.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import type { GroundingChoice } from '../../../../shared/contract/grounding.ts';
import { noGrounding, type Draft, type DraftChange } from '../../../stores/playground-drafts.ts';
import { readConfiguration, writeParameters } from '../../../drafts/parameter-model.ts';
import { readJsonFieldTexts, withJsonFieldTexts } from '../../../drafts/json-field-texts.ts';
import { readTemplate } from '../template-state.ts';
import { writeFields } from '../../../drafts/variable-model.ts';

/** Why a draft can't run, and where to fix it. */
export interface Blocker {
  message: string;
  place: { kind: 'prompt'; offset: number } | { kind: 'variable'; name: string } | { kind: 'parameter'; name: string };
}

export type RunRequest = { request: CompletionRequest } | { blocker: Blocker };

/** The request of a draft without what the window adds: what a person wrote and nothing else. */
export function readRequest(draft: Draft, model: Model | null): RunRequest {
  const template = parseTemplate(draft.promptText);
  const { fields, replacements, mistakes } = readTemplate(template, template.variables, draft);
  const { configuration, problems } = readConfiguration(draft, model);
  const [mistake] = mistakes;
  const field = fields.find(({ problem }) => problem !== null);
  const [problem] = problems;
  if (draft.promptText.trim() === '')
    return { blocker: { message: 'Write a prompt first', place: { kind: 'prompt', offset: 0 } } };
  if (mistake) {
    const message = `Line ${mistake.line}, column ${mistake.column}: ${mistake.message}`;
    return { blocker: { message, place: { kind: 'prompt', offset: mistake.start } } };
  }
  if (field)
    return { blocker: { message: `${field.name}: ${field.problem}`, place: { kind: 'variable', name: field.name } } };
  if (problem)
    return {
      blocker: { message: `${problem.name}: ${problem.problem}`, place: { kind: 'parameter', name: problem.name } },
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

/** What a person has chosen among the passages of a draft; null when the search decides alone. */
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

/** What a draft becomes when a run is put back as it was. Values of variables that the run does not use stay where they are. */
export function putBack(run: RunDetail, draft: Pick<Draft, 'values'>): DraftChange {
  const { promptText, systemMessage, replacements, configuration, dataspaceIds } = run.input;
  const { variables } = parseTemplate(promptText);
  const derived = { ...writeFields(variables, replacements), ...writeParameters(configuration) };
  const { values, ...fields } = withJsonFieldTexts(derived, run.metadata);
  const empty = Object.fromEntries(variables.map(({ name }) => [name, '']));
  return {
    promptText,
    systemMessage: systemMessage ?? '',
    aiSystem: run.aiSystem,
    model: run.model,
    values: { ...draft.values, ...empty, ...values },
    ...fields,
    grounding: { ...noGrounding, dataspaceIds: dataspaceIds ?? [] },
    shownRunId: run.runId,
  };
}
