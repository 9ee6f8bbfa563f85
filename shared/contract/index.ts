import type { Endpoint } from './endpoint.ts';
import * as agents from './agents.ts';
import * as apiKeys from './api-keys.ts';
import * as auditExports from './audit-exports.ts';
import * as auditReplay from './audit-replay.ts';
import * as auditViews from './audit-views.ts';
import * as auditData from './audit-data.ts';
import * as logImports from './log-imports.ts';
import * as audit from './audit.ts';
import * as capabilityTests from './capability-tests.ts';
import * as comparisonEstimates from './comparison-estimates.ts';
import * as comparisonResults from './comparison-results.ts';
import * as comparisonRuns from './comparison-runs.ts';
import * as comparisons from './comparisons.ts';
import * as completions from './completions.ts';
import * as conversations from './conversations.ts';
import * as datasetEdits from './dataset-edits.ts';
import * as datasetImport from './dataset-import.ts';
import * as datasets from './datasets.ts';
import * as dataspaces from './dataspaces.ts';
import * as files from './files.ts';

import * as blindVotes from './blind-votes.ts';
import * as votes from './votes.ts';
import * as judgedPairs from './judged-pairs.ts';
import * as judges from './judges.ts';
import * as knowledgeWindow from './knowledge-window.ts';
import * as grounding from './grounding.ts';
import * as moderationWindow from './moderation-window.ts';
import * as moderation from './moderation.ts';
import * as onDevice from './on-device.ts';
import * as openApi from './open-api.ts';
import * as passthrough from './passthrough.ts';
import * as promptFolders from './prompt-folders.ts';
import * as promptLibrary from './prompt-library.ts';
import * as promptTransfer from './prompt-transfer.ts';
import * as prompts from './prompts.ts';
import * as providerExchanges from './provider-exchanges.ts';
import * as privacy from './privacy.ts';
import * as providers from './providers.ts';
import * as reviewAgreement from './review-agreement.ts';
import * as reviewExports from './review-exports.ts';
import * as reviewFiles from './review-files.ts';
import * as reviewItems from './review-items.ts';
import * as reviewQueues from './review-queues.ts';
import * as reviewers from './reviewers.ts';
import * as reviews from './reviews.ts';
import * as rubrics from './rubrics.ts';
import * as runs from './runs.ts';
import * as schemas from './schemas.ts';
import * as toolLibrary from './tool-library.ts';
import * as team from './team.ts';
import * as traceExport from './trace-export.ts';
import * as settings from './settings.ts';

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value;
}

/** Every endpoint of the contract, in the order of the documents. */
export const endpoints: readonly Endpoint[] = [
  completions,
  passthrough,
  audit,
  auditViews,
  auditExports,
  auditData,
  auditReplay,
  logImports,
  moderation,
  grounding,
  moderationWindow,
  conversations,
  promptFolders,
  promptTransfer,
  prompts,
  promptLibrary,
  toolLibrary,
  agents,
  files,
  dataspaces,
  datasetImport,
  datasets,
  datasetEdits,
  comparisons,
  comparisonRuns,
  comparisonEstimates,
  comparisonResults,
  votes,
  blindVotes,
  judgedPairs,
  reviewers,
  rubrics,
  reviewFiles,
  reviewQueues,
  reviewItems,
  reviews,
  reviewAgreement,
  reviewExports,
  judges,
  knowledgeWindow,
  openApi,
  privacy,
  capabilityTests,
  providers,
  runs,
  providerExchanges,
  schemas,
  onDevice,
  apiKeys,
  settings,
  traceExport,
  team,
].flatMap((resource) => Object.values(resource).filter(isEndpoint));
