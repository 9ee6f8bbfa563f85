import { Bookmark, BookOpenText, Bot, Box, FileText, History, KeyRound, LibraryBig } from 'lucide-react';
import { useLocation } from 'wouter';
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

/** More of one kind than this is found by typing more. */
const maxPerGroup = 12;

export interface ActionGroup {
  title: string;
  actions: readonly Action[];
}

function score(action: Action, search: string): number {
  return matchScore(search, [action.title, action.group, action.detail ?? '', ...(action.keywords ?? [])]);
}

/**
 * What the palette shows for what was typed: the best of each group first, the group with the best one first. Nothing typed
 * leaves the order of the registry.
 */
export function rankActions(actions: readonly Action[], search: string): ActionGroup[] {
  const shown = actions.filter(({ isEnabled, isHiddenInPalette }) => isEnabled !== false && isHiddenInPalette !== true);
  const scored = shown.map((action) => ({ action, score: score(action, search) })).filter((entry) => entry.score > 0);
  // The best first: groups then come up in the order of their best one.
  if (search.trim() !== '') scored.sort((one, other) => other.score - one.score);
  const groups = Map.groupBy(scored, ({ action }) => action.group);
  return [...groups].map(([title, entries]) => ({
    title,
    actions: entries.slice(0, maxPerGroup).map(({ action }) => action),
  }));
}

/** What to list of some objects: not those whose deletion can still be undone. */
function useListed(): <T extends { id: string }>(objects: readonly T[] | undefined) => readonly T[] {
  const deleted = useDeletions(({ ids }) => ids);
  return (objects = []) => objects.filter(({ id }) => !deleted.has(id));
}

/** Objects that the palette finds by name: sources, saved views, API keys, prompts, agents, dataspaces, models and recent runs. */
export function useObjectActions(search: string): readonly Action[] {
  const isSearching = search !== '';
  const [, navigate] = useLocation();
  const models = useModels();
  const runs = useRuns();
  const prompts = usePromptsNamed(search);
  const agents = useAgents({ isEnabled: isSearching });
  const dataspaces = useDataspaces({ isEnabled: isSearching });
  const namedSources = useSourcesNamed(search);
  const views = useAuditViews({ isEnabled: isSearching });
  const apiKeys = useApiKeys({ isEnabled: isSearching });
  const listed = useListed();
  if (!isSearching) return [];
  const modelActions = (models.data?.data ?? [])
    .filter(({ hasEnded }) => !hasEnded)
    .map((model): Action => ({
      id: `model.${model.aiSystem}.${model.name}`,
      title: model.name,
      detail: modelLocation(model),
      group: 'Models',
      icon: Box,
      keywords: [model.title],
      run: () => navigate(modelAddress(model.aiSystem, model.name)),
    }));
  const runActions = (runs.data?.pages ?? [])
    .flatMap(({ data }) => data)
    .map((run): Action => ({
      id: `run.${run.runId}`,
      title: run.title,
      detail: `${run.model}, ${formatTime(run.createdAt)}`,
      group: 'Recent runs',
      icon: History,
      run: () => navigate(runAddress(run.runId)),
    }));
  const promptActions = listed(prompts.data).map((prompt): Action => ({
    id: `library.${prompt.id}`,
    title: prompt.name,
    detail: prompt.folder ?? '',
    group: 'Library',
    icon: LibraryBig,
    keywords: ['prompt', ...prompt.tags],
    run: () => navigate(promptAddress(prompt.id)),
  }));
  const agentActions = listed(agents.data).map((agent): Action => ({
    id: `agent.${agent.id}`,
    title: agent.name,
    detail: agent.model,
    group: 'Agents',
    icon: Bot,
    keywords: ['agent'],
    run: () => navigate(agentAddress(agent.id)),
  }));
  const dataspaceActions = (dataspaces.data ?? []).map(({ id, name, sources }): Action => ({
    id: `dataspace.${id}`,
    title: name,
    detail: formatPlural(sources, 'source'),
    group: 'Knowledge',
    icon: BookOpenText,
    keywords: ['dataspace'],
    run: () => navigate(dataspaceAddress(id)),
  }));
  const sourceActions = listed(namedSources.data).map((source): Action => ({
    id: `source.${source.id}`,
    title: source.name,
    detail: source.fileName,
    group: 'Sources',
    icon: FileText,
    keywords: ['source', 'file'],
    run: () => navigate(sourceAddress(source.id)),
  }));
  const viewActions = (views.data?.data ?? []).map(({ id, name, ...view }): Action => ({
    id: `view.${id}`,
    title: name,
    group: 'Saved views',
    icon: Bookmark,
    keywords: ['view', 'audit', 'filter'],
    run: () => navigate(auditAddress({ ...view, conversationId: null, runId: null })),
  }));
  const apiKeyActions = (apiKeys.data?.data ?? [])
    .filter(({ revokedAt }) => revokedAt === null)
    .map(({ id, name, scopes }): Action => ({
      id: `api-key.${id}`,
      title: name,
      detail: scopes.join(', '),
      group: 'API keys',
      icon: KeyRound,
      keywords: ['key', 'caller'],
      run: () => navigate(settingsAddress('api-keys')),
    }));
  return [
    ...sourceActions,
    ...viewActions,
    ...apiKeyActions,
    ...promptActions,
    ...agentActions,
    ...dataspaceActions,
    ...modelActions,
    ...runActions,
  ];
}
