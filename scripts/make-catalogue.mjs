/**
 * Writes electron/providers/<provider>/models.json: what is known of text models. It comes from a models.dev snapshot (its path is the
 * only argument) with the provider's model-changes.json, which is edited by hand, laid over it. Those changes come from the providers'
 * public pages and release notes of 2026-11-20; efforts and sampling of new models are as in the AI SDK's packages of that date, and
 * what isn't published is null. Cache and long-prompt prices are those of 2026-11-22 on platform.claude.com/docs/en/models,
 * developers.openai.com/api/docs/pricing and ai.google.dev/gemini-api/docs/pricing.
 * `node scripts/make-catalogue.mjs <snapshot.json>`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { keyedProviders } from '../shared/contract/common.ts';

const providers = join(import.meta.dirname, '..', 'electron', 'providers');

/** `GoogleGemini` has the folder `google-gemini`. */
function folderOf(aiSystem) {
  const name = aiSystem.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
  return join(providers, name);
}

/** Names that the snapshot lists as text models although they answer no prompt, or only with tools that a prompt doesn't have. */
const notForPrompts = /embedding|guard|deep-research|whisper|tts|image/;
/** Providers' packages convert an effort to a budget of thinking tokens for models that only support budgets. */
const budgetEfforts = ['low', 'medium', 'high'];

const empty = {
  contextTokens: null,
  outputTokens: null,
  inputPrice: null,
  outputPrice: null,
  cachedInputPrice: null,
  cacheWritePrice: null,
  longCacheWritePrice: null,
  longPrompt: null,
  audioInputPrice: null,
  pricesFrom: null,
  capabilities: [],
  sampling: 'always',
  reasoningEfforts: null,
  shutdownDate: null,
  hasEnded: false,
  replacement: null,
};

function isTextModel([name, model]) {
  const { input, output } = model.modalities;
  return input.includes('text') && output.length === 1 && output[0] === 'text' && !notForPrompts.test(name);
}

function capabilitiesOf(aiSystem, model) {
  return [
    model.reasoning && 'reasoning',
    model.tool_call && 'tools',
    model.modalities.input.includes('image') && 'images',
    // The snapshot doesn't list this for Claude. Its package enforces a schema through a tool if the model has no other way.
    (model.structured_output || (aiSystem === 'Anthropic' && model.tool_call)) && 'structured-output',
    model.open_weights && 'open-weights',
  ].filter(Boolean);
}

function effortsOf(model) {
  const options = model.reasoning_options ?? [];
  const effort = options.find((option) => option.type === 'effort');
  const canStop = options.some((option) => option.type === 'toggle');
  if (effort) return canStop && !effort.values.includes('none') ? ['none', ...effort.values] : effort.values;
  const budget = options.find((option) => option.type === 'budget_tokens');
  if (!budget) return null;
  // Claude thinks only when requested; the others think unless it is turned off, if they allow that.
  return canStop || model.family?.startsWith('claude') ? ['none', ...budgetEfforts] : budgetEfforts;
}

/** When a model takes temperature, top_p and top_k; see `Sampling` in electron/providers/provider-details.ts. */
function samplingOf(aiSystem, model) {
  if (aiSystem === 'OpenAi' && model.reasoning) {
    if (model.temperature) return 'always';
    return effortsOf(model)?.includes('none') ? 'with-effort-none' : 'never';
  }
  if (!model.temperature) return 'never';
  return aiSystem === 'Anthropic' && model.reasoning ? 'unless-effort' : 'always';
}

/** A price by token class; null if the snapshot has none. */
function pricesOf(aiSystem, cost) {
  return {
    inputPrice: cost?.input ?? null,
    outputPrice: cost?.output ?? null,
    cachedInputPrice: cost?.cache_read ?? null,
    cacheWritePrice: cost?.cache_write ?? null,
    // An hour in the cache costs twice the input price: https://platform.claude.com/docs/en/about-claude/pricing
    longCacheWritePrice: aiSystem === 'Anthropic' && cost?.cache_write !== undefined ? 2 * cost.input : null,
  };
}

function longPromptOf(aiSystem, cost) {
  const [tier] = cost?.tiers ?? [];
  return tier ? { aboveTokens: tier.tier.size, ...pricesOf(aiSystem, tier) } : null;
}

function entryOf(aiSystem, model, pricesFrom) {
  return {
    ...empty,
    title: model.name,
    contextTokens: model.limit?.context || null,
    outputTokens: model.limit?.output || null,
    ...pricesOf(aiSystem, model.cost),
    longPrompt: longPromptOf(aiSystem, model.cost),
    audioInputPrice: model.cost?.input_audio ?? null,
    pricesFrom: model.cost ? pricesFrom : null,
    capabilities: capabilitiesOf(aiSystem, model),
    sampling: samplingOf(aiSystem, model),
    reasoningEfforts: effortsOf(model),
  };
}

function catalogueOf(aiSystem, models, changes, dates) {
  const entries = new Map(
    Object.entries(models)
      .filter(isTextModel)
      .map(([name, model]) => [name, entryOf(aiSystem, model, dates.snapshot)]),
  );
  for (const [name, change] of Object.entries(changes)) {
    const known = entries.get(name);
    if (!known && !change.title)
      throw new Error(`${aiSystem} ${name}: the snapshot has no such model, so it needs a title`);
    const pricesFrom = change.inputPrice === undefined ? (known?.pricesFrom ?? null) : dates.changes;
    entries.set(name, { ...(known ?? empty), pricesFrom, ...change });
  }
  return [...entries]
    .map(([name, { title, ...details }]) => ({ name, title, ...details }))
    .sort((first, second) => (first.name < second.name ? -1 : 1));
}

const [snapshotPath] = process.argv.slice(2);
if (!snapshotPath) {
  console.error('Say where the models.dev snapshot is: node scripts/make-catalogue.mjs <snapshot.json>');
  process.exit(2);
}
const { source, providers: snapshot } = JSON.parse(readFileSync(snapshotPath, 'utf8'));
const snapshotDay = /\d{4}-\d{2}-\d{2}/.exec(source)[0];
for (const aiSystem of keyedProviders) {
  const folder = folderOf(aiSystem);
  const changes = JSON.parse(readFileSync(join(folder, 'model-changes.json'), 'utf8'));
  const dates = { snapshot: snapshotDay, changes: changes.pricesFrom };
  const models = catalogueOf(aiSystem, snapshot[aiSystem], changes.models, dates);
  const text = await format(JSON.stringify(models), { parser: 'json', printWidth: 120 });
  writeFileSync(join(folder, 'models.json'), text);
  console.log(`${aiSystem}: ${models.length} models`);
}
