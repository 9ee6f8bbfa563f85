import { useMutation } from '@tanstack/react-query';
import { ChevronDown } from 'lucide-react';
import { countTokens, type CompletionRequest } from '../../../shared/contract/completions.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import { fileKindOf } from '../../../shared/file-kinds.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Button } from '../../components/button.tsx';
import { estimateTokens, formatCost, formatWhole } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { servingModel } from '../../components/remedies.ts';
import { Popover } from '../../components/popover.tsx';
import { describeError, Notice } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { estimateUsedTokens, type UsedFile } from '../../drafts/file-values.ts';
import { readParameter } from '../../drafts/parameter-model.ts';
import { useActiveDraft, type Draft } from '../../stores/playground-drafts.ts';
import { readRequest } from './session/run-request.ts';
import { useChosenModel } from './session/use-runner.ts';

/** What a run may use and cost. */
export interface RunEstimate {
  inputTokens: number;
  /** Most tokens of the answer; null when neither the model's limit nor max_tokens is known. */
  maxOutputTokens: number | null;
  /** US dollars; null when a price is unknown. `max` is null where the answer has no known limit. */
  cost: { min: number; max: number | null } | null;
}

/**
 * From no answer to the longest one. The least is what the input costs when the provider reads all of it from its cache; the most has
 * nothing cached.
 */
export function estimateRun(
  model: Model | null,
  { inputTokens, audioTokens = 0 }: { inputTokens: number; audioTokens?: number },
  maxTokens: number | null,
): RunEstimate {
  const limits = [maxTokens, model?.outputTokens ?? null].filter((limit) => limit !== null);
  const maxOutputTokens = limits.length === 0 ? null : Math.min(...limits);
  if (model === null || model.inputPrice === null || model.outputPrice === null) {
    return { inputTokens, maxOutputTokens, cost: null };
  }
  const { inputPrice, outputPrice, cachedInputPrice, longPrompt } = model;
  const isLong = longPrompt !== null && inputTokens > longPrompt.aboveTokens;
  const prices = isLong ? longPrompt : { inputPrice, outputPrice, cachedInputPrice };
  const min = (inputTokens * (prices.cachedInputPrice ?? prices.inputPrice)) / 1e6;
  const heard = Math.min(audioTokens, inputTokens);
  const input = (inputTokens - heard) * prices.inputPrice + heard * (model.audioInputPrice ?? prices.inputPrice);
  const max = maxOutputTokens === null ? null : (input + maxOutputTokens * prices.outputPrice) / 1e6;
  return { inputTokens, maxOutputTokens, cost: { min, max } };
}

function costText({ cost }: RunEstimate): string | null {
  if (cost === null) return null;
  if (cost.max === null) return `from ${formatCost(cost.min)}`;
  const [min, max] = [formatCost(cost.min), formatCost(cost.max)];
  return min === max ? max : `${min} to ${max}`;
}

function tokensOf(count: number): string {
  return `${formatWhole(count)} ${count === 1 ? 'token' : 'tokens'}`;
}

/** As a run sends it; null without a valid number. */
export function maxTokensOf({ parameters }: Pick<Draft, 'parameters'>): number | null {
  const read = readParameter('max_tokens', parameters.max_tokens ?? '');
  return read && 'value' in read ? Number(read.value) : null;
}

function CountButton({ model, draft, count }: { model: Model; draft: Draft; count: ReturnType<typeof useCount> }) {
  const read = readRequest(draft, model);
  const provider = providerName(servingModel({ ...model, model: model.name }).aiSystem);
  if (!model.canCountTokens || !('request' in read)) return null;
  return (
    <>
      <p className="small tertiary">
        {provider} can count the tokens exactly. This sends the prompt to {provider}.
      </p>
      {count.error && <Notice tone="negative">{describeError(count.error).message}</Notice>}
      <Button size="small" isBusy={count.isPending} onClick={() => count.mutate(read.request)}>
        Count with {provider}
      </Button>
    </>
  );
}

interface Count {
  readonly request: CompletionRequest;
  readonly tokens: number;
}

function useCount() {
  const { client } = useHost();
  return useMutation({
    mutationFn: async (request: CompletionRequest): Promise<Count> => {
      const { tokens } = await client.call(countTokens, { body: request });
      return { request, tokens };
    },
  });
}

/** A count holds for the request that was counted, and for no other. */
function isRequestOf(counted: CompletionRequest, draft: Draft, model: Model | null): boolean {
  const read = readRequest(draft, model);
  return 'request' in read && JSON.stringify(counted) === JSON.stringify(read.request);
}

function tokensOfFiles(files: readonly UsedFile[], model: Model | null): number {
  const system = model && servingModel({ ...model, model: model.name }).aiSystem;
  return files.reduce((sum, file) => sum + estimateUsedTokens(file, system), 0);
}

/** Tokens and cost of the next run as a range, under a button in the head of the prompt. */
export function RunEstimateButton({ rendered, files }: { rendered: string; files: readonly UsedFile[] }) {
  const draft = useActiveDraft();
  const model = useChosenModel(draft);
  const count = useCount();
  const counted = count.data && isRequestOf(count.data.request, draft, model) ? count.data.tokens : null;
  const about = counted === null ? 'about ' : '';
  const inputTokens = counted ?? estimateTokens(draft.systemMessage + rendered) + tokensOfFiles(files, model);
  const audio = files.filter(({ file }) => fileKindOf(file.mediaType) === 'audio');
  const estimate = estimateRun(model, { inputTokens, audioTokens: tokensOfFiles(audio, model) }, maxTokensOf(draft));
  const cost = costText(estimate);
  const input = about + tokensOf(estimate.inputTokens);
  const trigger = (
    <button type="button" className="caption tertiary row run-estimate" title="Tokens and cost of the next run">
      {input}
      {cost !== null && <span className="run-estimate__cost"> · {cost}</span>}
      <Icon icon={ChevronDown} size="tiny" />
    </button>
  );
  return (
    <Popover label="Tokens and cost of the next run" align="end" trigger={trigger} className="run-estimate__panel">
      <dl className="run-estimate__values">
        <dt>Input</dt>
        <dd className="numbers">
          {input}
          {counted === null && draft.grounding && draft.grounding.dataspaceIds.length > 0 && ', without passages'}
        </dd>
        <dt>Output</dt>
        <dd className="numbers">
          {estimate.maxOutputTokens === null ? 'no known limit' : `up to ${tokensOf(estimate.maxOutputTokens)}`}
        </dd>
        <dt>Cost</dt>
        <dd className="numbers">{cost ?? 'unknown price'}</dd>
      </dl>
      {model && <CountButton model={model} draft={draft} count={count} />}
    </Popover>
  );
}
