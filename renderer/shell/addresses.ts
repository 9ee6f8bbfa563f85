import { useLocation } from 'wouter';
import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';

/** Addresses in the window, after the `#`. Every object that the palette finds has one. */

export type SettingsPageId =
  | 'providers'
  | 'endpoints'
  | 'service-models'
  | 'on-device'
  | 'embeddings'
  | 'api-keys'
  | 'local-server'
  | 'recording'
  | 'team'
  | 'data'
  | 'privacy'
  | 'appearance'
  | 'updates';

export function settingsAddress(page: SettingsPageId): string {
  return `/settings/${page}`;
}

/** The providers page with the key field of one provider open. */
export function providerKeyAddress(aiSystem: KeyedProvider): string {
  return `${settingsAddress('providers')}/${aiSystem}`;
}

/** The playground with a draft open. */
export function draftAddress(draftId: string): string {
  return `/playground/${draftId}`;
}

/** The playground with a stored run restored. */
export function runAddress(runId: string): string {
  return `/playground/runs/${runId}`;
}

/** The playground with a model selected. */
export function modelAddress(aiSystem: AiSystem, model: string): string {
  return `/playground/models/${aiSystem}/${encodeURIComponent(model)}`;
}

/** A prompt of the library, with a version other than the newest if given. */
export function promptAddress(promptId: string, versionId?: string): string {
  return ['/prompts', promptId, versionId].filter((part) => part !== undefined).join('/');
}

/** Two versions of a prompt side by side; null is the version before the other one. */
export function promptCompareAddress(promptId: string, beforeId: string | null, afterId: string): string {
  return `/prompts/${promptId}/compare/${beforeId ?? ''}/${afterId}`;
}

/** A version of a prompt with fields for its variables, to run it as an API call does. */
export function promptRunAddress(promptId: string, versionId: string): string {
  return `/prompts/${promptId}/run/${versionId}`;
}

/** The playground with a version of a prompt; a model replaces the version's own. */
export function versionDraftAddress(promptId: string, versionId: string, model?: string): string {
  const address = `/playground/prompts/${promptId}/${versionId}`;
  return model === undefined ? address : `${address}/${encodeURIComponent(model)}`;
}

/** An agent, in a new or an existing conversation. */
export function agentAddress(agentId: string, conversationId?: string): string {
  return ['/agents', agentId, conversationId].filter((part) => part !== undefined).join('/');
}

/** A dataspace with its sources. */
export function dataspaceAddress(dataspaceId: string): string {
  return `/knowledge/${dataspaceId}`;
}

/** The replays and one of them, next to the list: `/audit/replays/<id>`. A filter can't look like this, because it contains `=`. */
export function replayAddress(id?: string): string {
  return id === undefined ? '/audit/replays' : `/audit/replays/${id}`;
}

/** The review queues. A filter can't look like this, because it contains `=`. */
export const reviewsAddress = '/audit/reviews';

/** A review queue, or how its reviewers agree. */
export function reviewQueueAddress(id: string, page?: 'agreement'): string {
  return [reviewsAddress, id, page].filter((part) => part !== undefined).join('/');
}

/** The form of a review queue of all runs that match a filter, which is written as in an address of the audit. */
export function newReviewQueueAddress(filter: string): string {
  return `${reviewsAddress}/new/${filter}`;
}

/** The rubrics, with one open if given; `new` is the form of a new one. */
export function rubricAddress(id?: string): string {
  return [reviewsAddress, 'rubrics', id].filter((part) => part !== undefined).join('/');
}

/** The target of an address of the reviews. */
export type ReviewsAddress =
  | { view: 'list' }
  | { view: 'new'; filter: string }
  | { view: 'rubrics'; rubricId: string | null }
  | { view: 'queue' | 'agreement'; queueId: string };

/** Reads the addresses above; null for others. */
export function readReviewsAddress(location: string): ReviewsAddress | null {
  const [, screen, part, first, second] = location.split('/');
  if (screen !== 'audit' || part !== 'reviews') return null;
  if (!first) return { view: 'list' };
  if (first === 'new') return { view: 'new', filter: second || 'all' };
  if (first === 'rubrics') return { view: 'rubrics', rubricId: second || null };
  return { view: second === 'agreement' ? 'agreement' : 'queue', queueId: first };
}

/** A source, opened at a passage if one is given. */
export function sourceAddress(sourceId: string, passage?: { start: number; end: number }): string {
  const address = `/knowledge/sources/${sourceId}`;
  return passage === undefined ? address : `${address}/${passage.start}-${passage.end}`;
}

/** The target of an address of the knowledge screen. */
export interface KnowledgeAddress {
  /** Null if the address names only a source; its dataspace is then looked up. */
  dataspaceId: string | null;
  sourceId: string | null;
  /** The passage to show, by offsets into the source's text. */
  passage: { start: number; end: number } | null;
}

/** Reads `/knowledge/<dataspace>` and `/knowledge/sources/<source>/<start>-<end>`. */
export function readKnowledgeAddress(location: string): KnowledgeAddress {
  const [, , first, sourceId, range] = location.split('/');
  if (first !== 'sources') return { dataspaceId: first || null, sourceId: null, passage: null };
  const [, start, end] = /^(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const passage = start === undefined ? null : { start: Number(start), end: Number(end) };
  return { dataspaceId: null, sourceId: sourceId || null, passage };
}

/** The target of an address of the agents. */
export type AgentsAddress =
  | { view: 'none' }
  | { view: 'new' }
  /** `conversationId` null is a new conversation. */
  | { view: 'agent'; agentId: string; conversationId: string | null; isEditing: boolean };

export const newAgentAddress = '/agents/new';

/** The form of an agent beside one of its conversations; null is a new one. */
export function editAgentAddress(agentId: string, conversationId: string | null): string {
  return ['/agents', agentId, conversationId, 'edit'].filter((part) => part !== null).join('/');
}

/** Reads `/agents/new`, `/agents/<agent>` and `/agents/<agent>/<conversation>`, the last two also with `/edit` at the end. */
export function readAgentsAddress(location: string): AgentsAddress {
  const [, , agentId, ...rest] = location.split('/');
  if (!agentId) return { view: 'none' };
  if (agentId === 'new') return { view: 'new' };
  const isEditing = rest.at(-1) === 'edit';
  const conversationId = (isEditing ? rest.slice(0, -1) : rest)[0];
  return { view: 'agent', agentId, conversationId: conversationId || null, isEditing };
}

export const newComparisonAddress = '/compare/new';

/** The results of a comparison. */
export function comparisonAddress(comparisonId: string): string {
  return `/compare/${comparisonId}`;
}

/** The setup of a comparison that has not started. */
export function comparisonSetupAddress(comparisonId: string): string {
  return `/compare/setup/${comparisonId}`;
}

/** The blind vote over a comparison. */
export function comparisonVoteAddress(comparisonId: string): string {
  return `/compare/${comparisonId}/vote`;
}

/** The datasets, with one open if given. */
export function datasetAddress(datasetId?: string): string {
  return ['/compare/datasets', datasetId].filter((part) => part !== undefined).join('/');
}

/** An older version of a dataset. */
export function datasetVersionAddress(datasetId: string, version: number): string {
  return `${datasetAddress(datasetId)}/versions/${version}`;
}

/** The version of a dataset in an address; null is the latest one. */
export function readDatasetVersion(location: string): number | null {
  const number = /^\/compare\/datasets\/[^/]+\/versions\/([1-9]\d{0,5})$/.exec(location)?.[1];
  return number === undefined ? null : Number(number);
}

/** The judges, with one open if given. */
export function judgeAddress(judgeId?: string): string {
  return ['/compare/judges', judgeId].filter((part) => part !== undefined).join('/');
}

/** The target of an address of the comparisons. */
export type CompareAddress =
  | { view: 'list' }
  /** `comparisonId` null is a new comparison. */
  | { view: 'setup'; comparisonId: string | null }
  | { view: 'results' | 'vote'; comparisonId: string }
  | { view: 'datasets'; datasetId: string | null }
  | { view: 'judges'; judgeId: string | null };

/** Reads `/compare` and the addresses above. */
export function readCompareAddress(location: string): CompareAddress {
  const [, , first, second] = location.split('/');
  if (!first) return { view: 'list' };
  if (first === 'new') return { view: 'setup', comparisonId: null };
  if (first === 'setup') return { view: 'setup', comparisonId: second || null };
  if (first === 'datasets') return { view: 'datasets', datasetId: second || null };
  if (first === 'judges') return { view: 'judges', judgeId: second || null };
  return { view: second === 'vote' ? 'vote' : 'results', comparisonId: first };
}

/** The target of an address of the library. */
export type PromptsAddress =
  | { view: 'none' }
  /** `versionId` null is the newest one. */
  | { view: 'version'; promptId: string; versionId: string | null }
  | { view: 'run'; promptId: string; versionId: string | null }
  /** `beforeId` null is the version before `afterId`, which null makes the newest one. */
  | { view: 'compare'; promptId: string; beforeId: string | null; afterId: string | null };

/** Reads `/prompts/<prompt>`, `.../<version>`, `.../run/<version>` and `.../compare/<version>/<version>`. */
export function readPromptsAddress(location: string): PromptsAddress {
  const [, , promptId, second, third, fourth] = location.split('/');
  if (!promptId) return { view: 'none' };
  if (second === 'run') return { view: 'run', promptId, versionId: third || null };
  if (second === 'compare') {
    return { view: 'compare', promptId, beforeId: third || null, afterId: fourth || null };
  }
  return { view: 'version', promptId, versionId: second || null };
}

export interface ModerationAddress {
  /** Null for a single text. */
  readonly batchId: string | null;
  /** Index of the open text of the batch, from 0. */
  readonly index: number | null;
  openText: () => void;
  openBatch: (id: string, index?: number) => void;
}

/** A batch, or one of its texts; the first one is 0. */
export function batchAddress(id: string, index?: number): string {
  return `/moderation/batches/${id}${index === undefined ? '' : `/${index + 1}`}`;
}

/** `/moderation` for one text, `/moderation/batches/<id>/<number>` for a text of a batch; numbers count from 1. */
export function useModerationAddress(): ModerationAddress {
  const [location, navigate] = useLocation();
  const [, , kind, id, number] = location.split('/');
  const batchId = kind === 'batches' && id ? id : null;
  return {
    batchId,
    index: batchId !== null && /^[1-9]\d{0,5}$/.test(number ?? '') ? Number(number) - 1 : null,
    openText: () => navigate('/moderation'),
    openBatch: (next, index) =>
      navigate(batchAddress(next, index), {
        replace: next === batchId && index !== undefined,
      }),
  };
}
