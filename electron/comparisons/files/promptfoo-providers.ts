import { type Configuration, configuration as configurationSchema } from '../../../shared/contract/completions.ts';
import { maxVariants, type VariantInput } from '../../../shared/contract/comparisons.ts';
import { isMap, mapIn, plain, type ReadMap, textIn } from '../../prompts/transfer/bounded-values.ts';
import { emptyDraft } from '../../prompts/transfer/draft.ts';
import type { FinishedPrompt } from '../../prompts/transfer/finish-draft.ts';
import { takeParameters } from '../../prompts/transfer/parameter-names.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { createNames, namedModel } from './comparison-file.ts';
import { openAiParameters } from './promptfoo-parameters.ts';

/** What providers are read with. */
interface ProviderReader {
  /** Runs all prompts instead of the providers of the file; null for those. */
  readonly chosenModel: string | null;
  readonly report: (field: string, reason: string) => void;
  /** Objects that are given here or in other files. */
  readonly objects: (value: unknown, field: string) => ReadMap[];
  readonly files: ReferencedFiles;
  /** Reports a failure to read. */
  attempt<Result>(field: string, read: () => Result): Result | null;
}

export const list = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** Fields that matter with another model, too: the others are about the provider that it replaces. */
const changesAnswers = /^(?:tools|tool_choice|functions|function_call|response_format|instructions)/;

interface Provider {
  readonly id: string;
  readonly label: string;
  readonly config: ReadMap | null;
  readonly prompts: readonly unknown[] | null;
}

function readProviders(value: unknown, reader: ProviderReader): Provider[] {
  const { report, objects } = reader;
  return list(value).flatMap((entry, index) => {
    const isFile = typeof entry === 'string' && /^file:\/\/.*\.(?:ya?ml|json)$/.test(entry);
    const entries = isFile ? objects(entry, `providers[${index}]`) : [entry];
    return entries.flatMap((one): Provider[] => {
      if (typeof one === 'string') return [{ id: one, label: one, config: null, prompts: null }];
      if (!isMap(one)) return [];
      const [first] = one;
      const id = textIn(one, 'id') ?? first?.[0] ?? '';
      const details = one.has('id') ? one : isMap(first?.[1]) ? first[1] : new Map<string, unknown>();
      const unused = ['transform', 'env'].filter((key) => details.has(key));
      for (const key of unused) report(`${id}.${key}`, 'has no counterpart');
      const prompts = details.get('prompts');
      return [
        {
          id,
          label: textIn(details, 'label') ?? id,
          config: mapIn(details, 'config'),
          prompts: Array.isArray(prompts) ? prompts : null,
        },
      ];
    });
  });
}

interface VariantModel extends Pick<VariantInput, 'aiSystem' | 'model' | 'configuration'> {
  readonly systemMessage: string | null;
}

/** The model and parameters of a provider; null for one that isn't there. */
function variantModel({ id, config }: Provider, reader: ProviderReader): VariantModel | null {
  const { report, chosenModel } = reader;
  const chosen = namedModel(chosenModel ?? id);
  if (chosen === null) {
    report(`providers: ${id.slice(0, 100)}`, 'has no counterpart; choose another model with --model');
    return null;
  }
  const draft = emptyDraft(id);
  const hasAddress = chosen.aiSystem === 'OpenAiCompatible';
  const read =
    config && reader.attempt(id.slice(0, 100), () => openAiParameters(config, { files: reader.files, hasAddress }));
  if (read) takeParameters(draft, read.settings, { field: 'config', lineOf: () => null });
  for (const { outcome, field, message } of draft.entries)
    if (outcome === 'refused' && (chosenModel === null || changesAnswers.test(field.replace(/^config\./, ''))))
      report(`${id.slice(0, 100)}.${field}`, message);
  const accepted: [string, unknown][] = [];
  for (const [key, value] of draft.parameters) {
    const result = configurationSchema.safeParse({ [key]: plain(value) });
    if (result.success) accepted.push([key, plain(value)]);
    else if (chosenModel === null || changesAnswers.test(key))
      report(`${id.slice(0, 100)}.${key}`, result.error.issues[0]?.message ?? 'is not valid');
  }
  const configuration: Configuration | null =
    accepted.length === 0 ? null : (Object.fromEntries(accepted) as Configuration);
  return { aiSystem: chosen.aiSystem, model: chosen.model, configuration, systemMessage: read?.systemMessage ?? null };
}

/** All pairs of prompts and providers, unless a provider names its prompts. */
export function variantsOf(
  prompts: readonly FinishedPrompt['prompt'][],
  given: unknown,
  reader: ProviderReader,
): VariantInput[] {
  const uniqueName = createNames();
  const providers = readProviders(given, reader);
  const variants = providers.flatMap((provider) => {
    const model = variantModel(provider, reader);
    if (model === null) return [];
    const own = prompts.filter(({ name }) => provider.prompts === null || provider.prompts.includes(name));
    return own.map((prompt): VariantInput => {
      const parts = [
        prompts.length > 1 ? prompt.name : '',
        providers.length > 1 || prompts.length === 1 ? provider.label : '',
      ];
      const { promptText } = prompt;
      const { systemMessage, ...settings } = model;
      const messages = [systemMessage, prompt.systemMessage].filter((text) => text != null && text !== '');
      return {
        name: uniqueName(parts.filter((part) => part !== '').join(', ')),
        prompt: { promptText, systemMessage: messages.length === 0 ? null : messages.join('\n\n') },
        ...settings,
      };
    });
  });
  if (variants.length > maxVariants)
    reader.report('providers', `with the prompts make ${variants.length} variants, more than ${maxVariants}`);
  return variants.slice(0, maxVariants);
}
