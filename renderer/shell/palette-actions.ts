import { Bookmark, BookOpenText, Bot, Box, FileText, History, KeyRound, LibraryBig } from 'lucide-react';
import { useLocation } from 'wouter';
import type { Agent } from '../../shared/contract/agents.ts';
import type { ApiKey } from '../../shared/contract/api-keys.ts';
import type { AuditView } from '../../shared/contract/audit-views.ts';
import type { DataspaceSummary, SourceDetail } from '../../shared/contract/knowledge-window.ts';
import type { Prompt } from '../../shared/contract/prompts.ts';
import type { Model } from '../../shared/contract/providers.ts';
import type { RunListItem } from '../../shared/contract/runs.ts';
import { matchScore } from '../components/match-score.ts';
import type { Action } from '../stores/actions.ts';
import { formatPlural, formatTime } from '../components/format.ts';
import { useAgents } from '../queries/agents.ts';
import { useApiKeys } from '../queries/settings.ts';
import { useAuditViews } from '../queries/audit-list.ts';
import { modelLocation } from '../components/models/model-list.ts';
import { useDataspaces, useSourcesNamed } from '../queries/knowledge.ts';
import { useModels } from '../queries/providers.ts';
import { usePromptsNamed } from '../queries/prompts.ts';
import { useRuns } from '../queries/runs.ts';
import { useDeletions } from '../stores/deletions.ts';
import {
  agentAddress,
  dataspaceAddress,
  modelAddress,
  promptAddress,
  runAddress,
  settingsAddress,
  sourceAddress,
} from './addresses.ts';
import { auditAddress } from './audit-address.ts';

/** Results per group. Typing more finds the others. */
const maxPerGroup = 12;

export interface ActionGroup {
  title: string;
  actions: readonly Action[];
}

function score(action: Action, search: string): number {
  return matchScore(search, [action.title, action.group, action.detail ?? '', ...(action.keywords ?? [])]);
}

/** The matching actions by group: the best match first, in each group and among the groups. Without a search, the registry's order. */
export function rankActions(actions: readonly Action[], search: string): ActionGroup[] {
  const shown = actions.filter(({ isEnabled, isHiddenInPalette }) => isEnabled !== false && isHiddenInPalette !== true);
  const scored = shown.map((action) => ({ action, score: score(action, search) })).filter((entry) => entry.score > 0);
  // `groupBy` keeps this order, so the group with the best match comes first.
  if (search.trim() !== '') scored.sort((one, other) => other.score - one.score);
  const groups = Map.groupBy(scored, ({ action }) => action.group);
  return [...groups].map(([title, entries]) => ({
    title,
    actions: entries.slice(0, maxPerGroup).map(({ action }) => action),
  }));
}

/** Leaves out objects whose deletion can still be undone. */
function useListed(): <T extends { id: string }>(objects: readonly T[] | undefined) => readonly T[] {
  const deleted = useDeletions(({ ids }) => ids);
  return (objects = []) => objects.filter(({ id }) => !deleted.has(id));
}

type Navigate = (address: string) => void;

function modelAction(model: Model, navigate: Navigate): Action {
  return {
    id: `model.${model.aiSystem}.${model.name}`,
    title: model.name,
    detail: modelLocation(model),
    group: 'Models',
    icon: Box,
    keywords: [model.title],
    run: () => navigate(modelAddress(model.aiSystem, model.name)),
  };
}

function runAction(run: RunListItem, navigate: Navigate): Action {
  return {
    id: `run.${run.runId}`,
    title: run.title,
    detail: `${run.model}, ${formatTime(run.createdAt)}`,
    group: 'Recent runs',
    icon: History,
    run: () => navigate(runAddress(run.runId)),
  };
}

function promptAction(prompt: Prompt, navigate: Navigate): Action {
  return {
    id: `library.${prompt.id}`,
    title: prompt.name,
    detail: prompt.folder ?? '',
    group: 'Library',
    icon: LibraryBig,
    keywords: ['prompt', ...prompt.tags],
    run: () => navigate(promptAddress(prompt.id)),
  };
}

function agentAction(agent: Agent, navigate: Navigate): Action {
  return {
    id: `agent.${agent.id}`,
    title: agent.name,
    detail: agent.model,
    group: 'Agents',
    icon: Bot,
    keywords: ['agent'],
    run: () => navigate(agentAddress(agent.id)),
  };
}

function dataspaceAction({ id, name, sources }: DataspaceSummary, navigate: Navigate): Action {
  return {
    id: `dataspace.${id}`,
    title: name,
    detail: formatPlural(sources, 'source'),
    group: 'Knowledge',
    icon: BookOpenText,
    keywords: ['dataspace'],
    run: () => navigate(dataspaceAddress(id)),
  };
}

function sourceAction(source: SourceDetail, navigate: Navigate): Action {
  return {
    id: `source.${source.id}`,
    title: source.name,
    detail: source.fileName,
    group: 'Sources',
    icon: FileText,
    keywords: ['source', 'file'],
    run: () => navigate(sourceAddress(source.id)),
  };
}

function viewAction({ id, name, ...view }: AuditView, navigate: Navigate): Action {
  return {
    id: `view.${id}`,
    title: name,
    group: 'Saved views',
    icon: Bookmark,
    keywords: ['view', 'audit', 'filter'],
    run: () => navigate(auditAddress({ ...view, conversationId: null, runId: null })),
  };
}

function apiKeyAction({ id, name, scopes }: ApiKey, navigate: Navigate): Action {
  return {
    id: `api-key.${id}`,
    title: name,
    detail: scopes.join(', '),
    group: 'API keys',
    icon: KeyRound,
    keywords: ['key', 'caller'],
    run: () => navigate(settingsAddress('api-keys')),
  };
}

/** Objects that the palette finds by name: sources, saved views, API keys, prompts, agents, dataspaces, models and recent runs. */
export function useObjectActions(search: string): readonly Action[] {
  const isSearching = search !== '';
  const [, navigate] = useLocation();
  const models = useModels().data?.data ?? [];
  const runs = useRuns().data?.pages.flatMap(({ data }) => data) ?? [];
  const prompts = usePromptsNamed(search);
  const agents = useAgents({ isEnabled: isSearching });
  const dataspaces = useDataspaces({ isEnabled: isSearching }).data ?? [];
  const sources = useSourcesNamed(search);
  const views = useAuditViews({ isEnabled: isSearching }).data?.data ?? [];
  const apiKeys = useApiKeys({ isEnabled: isSearching }).data?.data ?? [];
  const listed = useListed();
  if (!isSearching) return [];
  return [
    ...listed(sources.data).map((source) => sourceAction(source, navigate)),
    ...views.map((view) => viewAction(view, navigate)),
    ...apiKeys.filter(({ revokedAt }) => revokedAt === null).map((key) => apiKeyAction(key, navigate)),
    ...listed(prompts.data).map((prompt) => promptAction(prompt, navigate)),
    ...listed(agents.data).map((agent) => agentAction(agent, navigate)),
    ...dataspaces.map((dataspace) => dataspaceAction(dataspace, navigate)),
    ...models.filter(({ hasEnded }) => !hasEnded).map((model) => modelAction(model, navigate)),
    ...runs.map((run) => runAction(run, navigate)),
  ];
}
