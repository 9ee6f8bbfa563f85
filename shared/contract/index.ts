import type { Endpoint } from './endpoint.ts';
import * as agentThreads from './agent-threads.ts';
import * as agents from './agents.ts';
import * as apiKeys from './api-keys.ts';
import * as auditExports from './audit-exports.ts';
import * as auditReplay from './audit-replay.ts';
import * as auditRetention from './audit-retention.ts';
import * as auditSamples from './audit-samples.ts';
import * as auditViews from './audit-views.ts';
import * as audit from './audit.ts';
import * as completions from './completions.ts';
import * as conversations from './conversations.ts';
import * as credits from './credits.ts';
import * as dataspaces from './dataspaces.ts';
import * as knowledgeWindow from './knowledge-window.ts';
import * as grounding from './grounding.ts';
import * as moderationWindow from './moderation-window.ts';
import * as moderation from './moderation.ts';
import * as onDevice from './on-device.ts';
import * as openApi from './open-api.ts';
import * as promptLabels from './prompt-labels.ts';
import * as promptFolders from './prompt-folders.ts';
import * as promptOutline from './prompt-outline.ts';
import * as promptRuns from './prompt-runs.ts';
import * as promptTransfer from './prompt-transfer.ts';
import * as promptUsage from './prompt-usage.ts';
import * as prompts from './prompts.ts';
import * as providerExchanges from './provider-exchanges.ts';
import * as privacy from './privacy.ts';
import * as providers from './providers.ts';
import * as runs from './runs.ts';
import * as settings from './settings.ts';
import * as sources from './sources.ts';

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value;
}

/** Every endpoint of the contract, in the order of the documents. */
export const endpoints: readonly Endpoint[] = [
  completions,
  audit,
  auditViews,
  auditExports,
  auditSamples,
  auditRetention,
  auditReplay,
  moderation,
  credits,
  grounding,
  moderationWindow,
  conversations,
  promptFolders,
  promptTransfer,
  prompts,
  promptRuns,
  promptOutline,
  promptLabels,
  promptUsage,
  agentThreads,
  agents,
  dataspaces,
  sources,
  knowledgeWindow,
  openApi,
  privacy,
  providers,
  runs,
  providerExchanges,
  onDevice,
  apiKeys,
  settings,
].flatMap((resource) => Object.values(resource).filter(isEndpoint));
