import { Box, History } from 'lucide-react';
import { useLocation } from 'wouter';
import { formatTime } from '../components/format.ts';
import { useModels } from '../queries/models.ts';
import { useRuns } from '../queries/runs.ts';
import type { Action } from '../stores/actions.ts';
import { modelAddress, runAddress } from './addresses.ts';

/** Objects that the palette finds once something is typed: models and the newest runs. */
export function useObjectActions(isSearching: boolean): readonly Action[] {
  const [, navigate] = useLocation();
  const models = useModels();
  const runs = useRuns();
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
  return [...modelActions, ...runActions];
}
