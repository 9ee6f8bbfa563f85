import type { Configuration, NamedParameter } from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';

/**
 * When a model supports temperature, top_p and top_k: `unless-effort` while no reasoning effort is set, `with-effort-none` only with
 * the effort `none`.
 */
export type Sampling = 'always' | 'unless-effort' | 'with-effort-none' | 'never';

/** US dollars per million tokens of each class; null where no price is published. */
export interface TokenPrices {
  readonly inputPrice: number;
  readonly outputPrice: number;
  readonly cachedInputPrice: number | null;
  readonly cacheWritePrice: number | null;
  /** For writes that are cached longer than the usual time: an hour at Anthropic, 12 hours at OpenAI. */
  readonly longCacheWritePrice: number | null;
}

/** A model of the bundled catalogue. Prices are US dollars per million tokens, unknown values are null. */
export interface CatalogueEntry {
  readonly name: string;
  readonly title: string;
  readonly contextTokens: number | null;
  readonly outputTokens: number | null;
  readonly inputPrice: number | null;
  readonly outputPrice: number | null;
  readonly cachedInputPrice: number | null;
  readonly cacheWritePrice: number | null;
  /** For writes that are cached longer than the usual time. */
  readonly longCacheWritePrice: number | null;
  /** Prices of every token of a request whose prompt, with its cached part, is longer; null where length doesn't matter. */
  readonly longPrompt: (TokenPrices & { readonly aboveTokens: number }) | null;
  /** Of audio in the prompt; null where none is published besides that of text. */
  readonly audioInputPrice: number | null;
  /** Day on which the prices were published, `YYYY-MM-DD`. */
  readonly pricesFrom: string | null;
  readonly capabilities: Model['capabilities'];
  readonly sampling: Sampling;
  /** Null when it doesn't support `reasoning_effort`. */
  readonly reasoningEfforts: readonly string[] | null;
  /** `YYYY-MM-DD`. */
  readonly shutdownDate: string | null;
  readonly hasEnded: boolean;
  readonly replacement: string | null;
}

/** Rules of a provider's API beside the catalogue's data about each model. Reasons end a sentence of a warning. */
export interface ParameterRules {
  /** Why the API rejects a parameter for every model. */
  readonly unsupported: Readonly<Partial<Record<NamedParameter, string>>>;
  /** The values of `response_format`; absent if the API supports all. */
  readonly responseFormats?: readonly string[];
  /** Whether the API rejects `json_schema` for models without the capability `structured-output`. */
  readonly restrictsSchemas?: boolean;
  /** Why the API has no `parallel_tool_calls`; absent if it has. */
  readonly parallelCalls?: string;
  /** Why a model doesn't support a parameter, or null. */
  readonly modelRule?: (name: NamedParameter, model: string) => string | null;
  /** Why a parameter can't go with the other parameters of a call, or null. */
  readonly callRule?: (name: NamedParameter, configuration: Configuration) => string | null;
}

/** Rules of a provider's API for conversations; absent if there are none. */
export interface MessageRules {
  /** Whether system messages may only come before all others. */
  readonly isSystemOnlyFirst?: boolean;
  /** What happens to an assistant message at the end: it counts as complete and is not continued, or the call is rejected. */
  readonly lastAssistant?: 'complete' | 'rejected';
}

/** The names that a provider has in prompt files, in lower case. Files are written with the first one. */
export interface PromptFileNames {
  readonly dotprompt: readonly [string, ...string[]];
  /** Empty if promptfoo doesn't know the provider. */
  readonly promptfoo: readonly string[];
  /** The kind of call in promptfoo's names, between provider and model. */
  readonly promptfooKind?: string;
}

/** The details of a provider that need no call. It is plain data, which threads load without the packages of the AI SDK. */
export interface ProviderDetails {
  /** With the version segment, without a slash at the end. */
  readonly baseAddress: string;
  /** The environment variable with the key, for machines without a keychain. */
  readonly environmentVariable: string;
  /** Page where users get a key. */
  readonly keyPage: string;
  /** `models.json`, which scripts/make-catalogue.mjs writes. Its types are checked by a test. */
  readonly models: readonly unknown[];
  /** Whether its client has `countTokens`. */
  readonly countsTokens: boolean;
  readonly parameterRules: ParameterRules;
  readonly messageRules?: MessageRules;
  readonly promptFileNames: PromptFileNames;
}
