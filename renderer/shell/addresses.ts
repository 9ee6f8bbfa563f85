import type { AiSystem, KeyedProvider } from '../../shared/contract/common.ts';

/** Addresses inside the window, as they stand behind `#`. Every object that the palette finds has one. */

export type SettingsPageId =
  | 'providers'
  | 'endpoints'
  | 'service-models'
  | 'on-device'
  | 'embeddings'
  | 'api-keys'
  | 'local-server'
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

/** The playground with a kept run put back as it was. */
export function runAddress(runId: string): string {
  return `/playground/runs/${runId}`;
}

/** The playground with a model chosen. */
export function modelAddress(aiSystem: AiSystem, model: string): string {
  return `/playground/models/${aiSystem}/${encodeURIComponent(model)}`;
}

/** A prompt of the library; with a version, that one rather than the newest. */
export function promptAddress(promptId: string, versionId?: string): string {
  return ['/prompts', promptId, versionId].filter((part) => part !== undefined).join('/');
}

/** Two versions of a prompt side by side; null is the one before the other, whichever that is. */
export function promptCompareAddress(promptId: string, beforeId: string | null, afterId: string): string {
  return `/prompts/${promptId}/compare/${beforeId ?? ''}/${afterId}`;
}

/** A version of a prompt with fields for its variables, to be run as a program would. */
export function promptRunAddress(promptId: string, versionId: string): string {
  return `/prompts/${promptId}/run/${versionId}`;
}

/** The playground with a version of a prompt; with a model, with that one in place of the version's own. */
export function versionDraftAddress(promptId: string, versionId: string, model?: string): string {
  const address = `/playground/prompts/${promptId}/${versionId}`;
  return model === undefined ? address : `${address}/${encodeURIComponent(model)}`;
}

/** An agent, in a new conversation or in one that it has had. */
export function agentAddress(agentId: string, conversationId?: string): string {
  return ['/agents', agentId, conversationId].filter((part) => part !== undefined).join('/');
}

/** A dataspace with its sources. */
export function dataspaceAddress(dataspaceId: string): string {
  return `/knowledge/${dataspaceId}`;
}

/** The replays and one of them, beside the list: `/audit/replays/<id>`. No filter is written like this, it has `=` in it. */
export function replayAddress(id?: string): string {
  return id === undefined ? '/audit/replays' : `/audit/replays/${id}`;
}

/** A source; with a passage, its text opened there. */
export function sourceAddress(sourceId: string, passage?: { start: number; end: number }): string {
  const address = `/knowledge/sources/${sourceId}`;
  return passage === undefined ? address : `${address}/${passage.start}-${passage.end}`;
}
