import { invalidField } from '../../../shared/app-error.ts';
import type { Citation, Configuration } from '../../../shared/contract/completions.ts';
import type {
  GroundingChoice,
  GroundingOmission,
  GroundingPassage,
  GroundingPreview,
  PassageReference,
} from '../../../shared/contract/grounding.ts';
import { type Message, textOfMessage } from '../../../shared/contract/messages.ts';
import { assumedContextTokens, estimateTokens } from '../../common/estimate-tokens.ts';
import { defaultModelId, modelCatalogue } from '../../on-device/model-catalogue.ts';
import type { ResolvedModel } from '../../providers/model-resolver.ts';
import {
  type MatchedPassage,
  type RankedPassage,
  type Retrieval,
  type SearchOutcome,
  toCitation,
} from '../retrieval/create-retrieval.ts';
import { exampleTemplate, instructionTemplate, type PromptTemplate } from './templates.ts';
import { questionSentences } from '../retrieval/query-parts.ts';

/** Estimated tokens that the prompt adds to each passage. */
const tokensAround = 20;

/** Passages below this share of the best relevance would only distract the model. */
const minShare = 0.1;

/** An estimate that is usually too high. */
export function passageTokens(text: string): number {
  return estimateTokens(text) + tokensAround;
}

export interface PassageLimits {
  /** Min relevance. An answer from less relevant passages would probably be made up. */
  readonly relevance: number;
  /** Estimated tokens of all passages together. The first passage may exceed them unless there is no room at all. */
  readonly tokens: number;
  readonly passages: number;
}

interface PassageChoice {
  /** Given first, in this order. */
  readonly pinned: readonly MatchedPassage[];
  readonly found: readonly RankedPassage[];
  readonly excluded: readonly PassageReference[];
}

/** Whether a passage is the referenced one, or contains the referenced excerpt. */
function contains(passage: PassageReference, other: PassageReference): boolean {
  return passage.sourceId === other.sourceId && passage.start <= other.start && passage.end >= other.end;
}

const unranked = { textRank: null, textScore: null, coverage: 0, vectorRank: null, similarity: null };

/** Selects the passages for the prompt and numbers them. The others get the reason for their omission. */
export function choosePassages({ pinned, found, excluded }: PassageChoice, limits: PassageLimits): GroundingPassage[] {
  const isPinned = (passage: MatchedPassage) => pinned.some((other) => contains(passage, other));
  const candidates = [
    ...pinned.map((passage) => ({
      ...unranked,
      ...(found.find((other) => contains(passage, other)) ?? passage),
      isPinned: true,
    })),
    ...found.filter((passage) => !isPinned(passage)).map((passage) => ({ ...passage, isPinned: false })),
  ];
  const threshold = Math.max(limits.relevance, minShare * Math.max(0, ...found.map(({ relevance }) => relevance)));
  let given = 0;
  let used = 0;

  function omissionOf(passage: (typeof candidates)[number], tokens: number): GroundingOmission | null {
    if (excluded.some((other) => contains(passage, other))) return 'excluded';
    if (!passage.isPinned && passage.relevance < threshold) return 'not-relevant';
    if (limits.tokens <= 0 || (given > 0 && used + tokens > limits.tokens)) return 'no-room';
    return !passage.isPinned && given >= limits.passages ? 'too-many' : null;
  }

  const judged = candidates.map((passage): GroundingPassage => {
    const tokens = passageTokens(passage.text);
    const omission = omissionOf(passage, tokens);
    if (omission === null) {
      given += 1;
      used += tokens;
    }
    return { ...passage, index: omission === null ? given : null, omission, tokens };
  });
  return [...judged.filter(({ index }) => index !== null), ...judged.filter(({ index }) => index === null)];
}

/** Texts up to this length are searched whole. The embedding model reads about as much. */
const wholeCharacters = 1000;

/** The end of a text, without a broken word at its beginning. */
function endOf(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const end = text.slice(-characters);
  const space = end.search(/\s/u);
  return space < 0 ? end : end.slice(space + 1);
}

/**
 * The part of a prompt to search with. A short prompt is used whole. In a long one these are the sentences that ask something, the
 * last ones first, then its end: people put the task after the material.
 */
export function questionOf(prompt: string): string {
  const text = prompt.trim();
  if (text.length <= wholeCharacters) return text;
  const questions = questionSentences(text);
  let requested = '';
  for (const question of questions.toReversed()) {
    const longer = requested === '' ? question : `${question} ${requested}`;
    if (longer.length > wholeCharacters / 2) break;
    requested = longer;
  }
  const rest = endOf(text, wholeCharacters - requested.length - 1);
  return requested === '' ? rest : `${requested}\n${rest}`;
}

/** A prompt to ground on dataspaces. */
export interface GroundingRequest {
  readonly dataspaceIds: readonly string[];
  readonly renderedPrompt: string;
  readonly systemMessage: string | null;
  /** The part of the request's configuration that the model supports. */
  readonly configuration: Configuration;
  readonly target: Pick<ResolvedModel, 'servedBy' | 'metadata'>;
  readonly choice: GroundingChoice;
  /** Earlier messages of the conversation, which are sent, too. */
  readonly history?: readonly Message[];
}

/** The messages that are sent instead of the prompt, with the details of the search. */
export interface GroundedPrompt extends Omit<GroundingPreview, 'messages'> {
  /** The prompt with the rules and the passages around it; worked examples come before it. */
  readonly messages: readonly Message[];
  /** The passages in the prompt, in the order of their numbers. */
  readonly citations: readonly Citation[];
}

export interface Grounding {
  /** The ids in their stored form. Throws `invalid_request` for the first unknown dataspace. */
  requireDataspaces(dataspaceIds: readonly string[]): string[];
  /**
   * Finds the passages for a prompt and puts them before it. Throws `invalid_request` for a chosen passage that is not there any more.
   * Rejects with the signal's reason when it ends the search.
   */
  ground(request: GroundingRequest, options: { readonly signal: AbortSignal }): Promise<GroundedPrompt>;
}

export interface GroundingOptions {
  readonly retrieval: Retrieval;
  readonly findDataspace: (id: string) => { readonly id: string } | null;
}

/** Passages that are searched. A user who pins and excludes sees all of them. */
const candidates = 20;

/** The part of the context that is left for the answer. */
const answerShare = 0.25;

const nothingSearched: SearchOutcome = {
  passages: [],
  milliseconds: { embedding: 0, search: 0 },
  keywordOnlyReason: null,
};

const defaultModelFile = modelCatalogue.find(({ id }) => id === defaultModelId)!.fileName;

function templateOf({ servedBy }: GroundingRequest['target']): PromptTemplate {
  return servedBy === `on-device/${defaultModelFile}` ? exampleTemplate : instructionTemplate;
}

/** Tokens that are left for passages beside everything else that is sent. */
function roomFor(
  { target, renderedPrompt, systemMessage, history = [] }: GroundingRequest,
  template: PromptTemplate,
): number {
  const context = target.metadata.contextTokens ?? assumedContextTokens;
  const usedTokens = estimateTokens(renderedPrompt) + estimateTokens(systemMessage ?? '') + template.ownTokens;
  const before = history.reduce((sum, message) => sum + estimateTokens(textOfMessage(message)), 0);
  return Math.min(template.tokens, Math.floor(context * (1 - answerShare)) - usedTokens - before);
}

/** The request's parameters take precedence; its stop sequences are combined with the template's. */
function mergedConfiguration(requested: Configuration, ofTemplate: Configuration): Configuration {
  const stops = [requested.stop ?? [], ofTemplate.stop ?? []].flat();
  const set = Object.fromEntries(
    Object.entries(requested).filter(([, value]) => value !== null && value !== undefined),
  );
  return { ...ofTemplate, ...set, ...(stops.length === 0 ? {} : { stop: [...new Set(stops)] }) };
}

/** The passages that a request names. Throws `invalid_request` for one that doesn't exist any more. */
async function readNamed(
  retrieval: Retrieval,
  name: 'pinned' | 'only',
  references: readonly PassageReference[],
  signal: AbortSignal,
): Promise<MatchedPassage[]> {
  if (references.length === 0) return [];
  const found = await retrieval.read(references, { signal });
  return found.map((passage, index) => {
    if (passage !== null) return passage;
    throw invalidField(`grounding.${name}[${index}]`, 'is no longer a passage: its source was deleted or re-indexed');
  });
}

export function createGrounding({ retrieval, findDataspace }: GroundingOptions): Grounding {
  /** Shortens passages to what the template allows. */
  async function excerpts(
    passages: readonly GroundingPassage[],
    text: string,
    { excerpt: characters }: PromptTemplate,
    signal: AbortSignal,
  ): Promise<GroundingPassage[]> {
    if (characters === null) return [...passages];
    const shortened = passages.map(async (passage) => {
      if (passage.index === null) return passage;
      const excerpt = await retrieval.excerpt(passage, { text, characters }, { signal });
      return { ...excerpt, tokens: passageTokens(excerpt.text) };
    });
    return Promise.all(shortened);
  }

  async function searched(request: GroundingRequest, query: string, signal: AbortSignal): Promise<SearchOutcome> {
    if (request.choice.only) return nothingSearched;
    return retrieval.search({ dataspaceIds: request.dataspaceIds, text: query, limit: candidates }, { signal });
  }

  return {
    requireDataspaces: (dataspaceIds) =>
      dataspaceIds.map((id, index) => {
        const dataspace = findDataspace(id);
        if (dataspace === null) throw invalidField(`dataspaceIds[${index}]`, 'is not a known dataspace');
        return dataspace.id;
      }),
    async ground(request, { signal }) {
      const { renderedPrompt, target, choice, configuration } = request;
      const template = templateOf(target);
      const query = questionOf(renderedPrompt);
      const pinned = choice.only
        ? await readNamed(retrieval, 'only', choice.only, signal)
        : await readNamed(retrieval, 'pinned', choice.pinned ?? [], signal);
      const outcome = await searched(request, query, signal);
      const limits = { tokens: roomFor(request, template), passages: template.passages, relevance: template.relevance };
      const chosenOnes = choosePassages({ pinned, found: outcome.passages, excluded: choice.excluded ?? [] }, limits);
      const passages = await excerpts(chosenOnes, query, template, signal);
      const given = passages.filter(({ index }) => index !== null);
      const filled = template.fill(renderedPrompt, given);
      return {
        query,
        passages,
        citations: given.map((passage) => toCitation(passage, passage.index!)),
        budget: {
          tokens: Math.max(0, limits.tokens),
          used: given.reduce((sum, { tokens }) => sum + tokens, 0),
          contextTokens: target.metadata.contextTokens,
        },
        messages: filled.messages,
        configuration: mergedConfiguration(configuration, filled.configuration),
        milliseconds: outcome.milliseconds,
        keywordOnlyReason: outcome.keywordOnlyReason,
      };
    },
  };
}
