import { useQueries } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { AppError } from '../../../../shared/app-error.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { useHost } from '../../../host/host-context.tsx';
import { useComparisonEstimate } from '../../../queries/comparisons.ts';
import { useDataset } from '../../../queries/datasets.ts';
import { promptVersionOptions } from '../../../queries/prompts.ts';
import { useModels } from '../../../queries/providers.ts';
import {
  draftVariant,
  emptySetup,
  newSetupId,
  type SetupChange,
  type SetupDraft,
  useComparisonDrafts,
  type VariantDraft,
} from '../../../stores/comparison-drafts.ts';
import { getActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import type { Problems } from './check-drafts.ts';
import { neededVariables, type TemplateNeeds } from './column-mapping.ts';
import { issueText, readSetup, writeSetup } from './setup-draft.ts';

/** Drafts load from the disk. An edit before that would overwrite them. */
export function useHaveDrafts(): boolean {
  const isPlaygroundHere = useSyncExternalStore(useDrafts.persist.onFinishHydration, useDrafts.persist.hasHydrated);
  const isHere = useSyncExternalStore(
    useComparisonDrafts.persist.onFinishHydration,
    useComparisonDrafts.persist.hasHydrated,
  );
  return isHere && isPlaygroundHere;
}

/** A new setup starts with the open prompt of the playground. */
function firstSetup(): SetupDraft {
  const draft = getActiveDraft(useDrafts.getState());
  return emptySetup(draft.promptText.trim() === '' ? {} : { variants: [draftVariant(draft, { isVersion: false })] });
}

/** The draft of a setup. `comparison` is null for a new one. Nothing is written before the first change. */
export function useSetupDraft(comparison: Comparison | null) {
  const id = comparison?.id ?? newSetupId;
  const stored = useComparisonDrafts(({ drafts }) => drafts.find((draft) => draft.id === id));
  const [initial] = useState(() => (comparison ? writeSetup(comparison) : firstSetup()));
  const draft = stored ?? initial;
  const change = (changed: SetupChange | ((before: SetupDraft) => SetupChange)): void => {
    const { drafts, write } = useComparisonDrafts.getState();
    const before = drafts.find((one) => one.id === id) ?? initial;
    write({ ...before, ...(typeof changed === 'function' ? changed(before) : changed) });
  };
  return { draft, isChanged: stored !== undefined, change };
}

/** A loaded version by its id. */
export type Versions = ReadonlyMap<string, PromptVersion>;

function useVersions(variants: readonly VariantDraft[]): Versions {
  const { client } = useHost();
  const versions = variants.flatMap(({ prompt }) => (prompt?.kind === 'version' ? [prompt] : []));
  const unique = [...new Map(versions.map((version) => [version.versionId, version])).values()];
  return useQueries({
    queries: unique.map(({ promptId, versionId }) => promptVersionOptions(client, promptId, versionId)),
    combine: (results) => new Map(results.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))),
  });
}

function needsOf({ prompt }: VariantDraft, versions: Versions): TemplateNeeds | null {
  if (prompt?.kind === 'text') return { template: parseTemplate(prompt.promptText), defaults: [] };
  const version = prompt ? versions.get(prompt.versionId) : undefined;
  if (!version) return null;
  const defaults = version.variables.filter(({ defaultValue }) => defaultValue !== null).map(({ name }) => name);
  return { template: parseTemplate(version.promptText), defaults };
}

const estimateMilliseconds = 500;

function useDebounced<Value>(value: Value): Value {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), estimateMilliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}

const none: Problems = new Map();

/** The fields that the service rejects, such as a pattern that RE2 can't compile. */
function rejectedFields(error: unknown): Problems {
  if (!(error instanceof AppError)) return none;
  return new Map(error.details.map(({ field, issue }) => [field, issueText(issue)]));
}

/** What a setup would send, with its problems and its estimate. */
export function useReadSetup(draft: SetupDraft) {
  const dataset = useDataset(draft.datasetId, draft.datasetVersion);
  const models = useModels().data?.data;
  const versions = useVersions(draft.variants);
  const needs = useMemo(
    () => draft.variants.flatMap((variant) => needsOf(variant, versions) ?? []),
    [draft.variants, versions],
  );
  const loaded: Dataset | null = dataset.data ?? null;
  const read = useMemo(
    () => readSetup(draft, { dataset: loaded, needed: neededVariables(needs), models: models ?? [] }),
    [draft, loaded, needs, models],
  );
  const text = useMemo(() => (read.input ? JSON.stringify({ ...read.input, name: 'Estimate' }) : null), [read.input]);
  const requested = useDebounced(text);
  const estimate = useComparisonEstimate(requested);
  const isCurrent = requested === text && text !== null;
  const rejected = isCurrent && estimate.isError ? rejectedFields(estimate.error) : none;
  return {
    ...read,
    problems: read.problems.size > 0 ? read.problems : rejected,
    needs,
    versions,
    dataset: loaded,
    datasetQuery: dataset,
    estimate,
    isEstimateCurrent: isCurrent && !estimate.isPlaceholderData,
  };
}

export type ReadSetupState = ReturnType<typeof useReadSetup>;
