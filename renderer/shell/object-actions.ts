import { BookOpenText, Bot, Box, History, LibraryBig } from 'lucide-react';
import { useLocation } from 'wouter';
import { formatPlural, formatTime } from '../components/format.ts';
import { useAgents } from '../queries/agents.ts';
import { useDataspaces } from '../queries/knowledge.ts';
import { useModels } from '../queries/models.ts';
import { usePromptsNamed } from '../queries/prompts.ts';
import { useRuns } from '../queries/runs.ts';
import type { Action } from '../stores/actions.ts';
import { agentAddress, dataspaceAddress, modelAddress, promptAddress, runAddress } from './addresses.ts';

/** Objects that the palette finds for what is typed: prompts, agents, dataspaces, models and the newest runs. */
export function useObjectActions(search: string): readonly Action[] {
  const isSearching = search !== '';
  const [, navigate] = useLocation();
  const models = useModels();
  const runs = useRuns();
  const prompts = usePromptsNamed(search);
  const agents = useAgents({ isEnabled: isSearching });
  const dataspaces = useDataspaces({ isEnabled: isSearching });
  if (!isSearching) return [];
  const modelActions = (models.data?.data ?? [])
    .filter(({ hasEnded }) => !hasEnded)
    .map((model): Action => ({
      id: `model.${model.aiSystem}.${model.name}`,
      title: model.name,
      detail: model.isReady ? model.aiSystem : `${model.aiSystem}, no key`,
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
  const promptActions = (prompts.data ?? []).map((prompt): Action => ({
    id: `library.${prompt.id}`,
    title: prompt.name,
    detail: prompt.folder ?? '',
    group: 'Library',
    icon: LibraryBig,
    keywords: ['prompt', ...prompt.tags],
    run: () => navigate(promptAddress(prompt.id)),
  }));
  const agentActions = (agents.data ?? []).map((agent): Action => ({
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
  return [...promptActions, ...agentActions, ...dataspaceActions, ...modelActions, ...runActions];
}
