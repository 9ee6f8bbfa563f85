import type { ProviderFetch } from './provider-fetch.ts';
import type { ListedModel } from './provider.ts';
import { ProviderFailure, failureFromStatus, type ProviderIdentity } from './provider-error.ts';

export interface ListRequest extends ProviderIdentity {
  readonly transport: ProviderFetch;
  readonly signal: AbortSignal;
}

/** Asks a provider for the list of its text models. */
export type ListModels = (request: ListRequest) => Promise<ListedModel[]>;

type Fields = Record<string, unknown>;

/** More pages than any provider has; ends a list that never does. */
const maxPages = 50;

/** Of all pages of a list together; the longest list known has 500 KB. */
const maxListBytes = 16 * 1_048_576;

const bytesRead = new WeakMap<ListRequest, number>();

const otherThanText =
  /embed|rerank|whisper|tts|audio|speech|transcri|realtime|image|dall-e|imagen|veo|sora|lyria|video|moderation|guard|orpheus|davinci|babbage|\baqa\b|computer-use|robotics|\blive\b/i;

/** Whether a name is that of a model that answers text with text, as far as names tell. */
export function isTextModelName(name: string): boolean {
  return !otherThanText.test(name);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}

function records(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** Leaves out what is undefined, as the interface wants it. */
function listed(name: string, facts: { [Key in keyof Omit<ListedModel, 'name'>]: ListedModel[Key] | undefined }) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return { name, ...Object.fromEntries(known) } as ListedModel;
}

async function readPage(request: ListRequest, address: string, headers: Record<string, string>): Promise<Fields> {
  const left = maxListBytes - (bytesRead.get(request) ?? 0);
  const response = await request.transport.request(
    address,
    { headers: { accept: 'application/json', ...headers }, signal: request.signal },
    left,
  );
  const { status, headers: received, text: body } = response;
  bytesRead.set(request, maxListBytes - left + Buffer.byteLength(body));
  if (status < 200 || status >= 300) throw failureFromStatus({ status, headers: received, body }, request);
  const page = parse(body);
  if (!page) {
    throw new ProviderFailure(
      'provider_failed',
      `${request.title} responds at this address, but not with a list of models.`,
      {
        providerStatus: status,
      },
    );
  }
  return page;
}

function parse(body: string): Fields | null {
  try {
    const page = JSON.parse(body) as unknown;
    return typeof page === 'object' && page !== null && !Array.isArray(page) ? (page as Fields) : null;
  } catch {
    return null;
  }
}

function bearer(key: string | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** `YYYY-MM-DD` from a date, a date-time or seconds since 1970. */
function shutdownDate(value: unknown): string | undefined {
  if (typeof value === 'number' && value > 0) return new Date(value * 1000).toISOString().slice(0, 10);
  return /^\d{4}-\d{2}-\d{2}/.exec(text(value) ?? '')?.[0];
}

/** The list of OpenAI and of all who copied it; Groq, vLLM, llama.cpp and gateways add their own facts. */
export const listOpenAiModels: ListModels = async (request) => {
  const page = await readPage(request, `${request.baseAddress}/models`, bearer(request.key));
  return records(page['data']).flatMap((model) => {
    const name = text(model['id']);
    if (!name || !isTextModelName(name) || model['active'] === false) return [];
    const meta = (model['meta'] ?? {}) as Fields;
    return listed(name, {
      title: text(model['display_name']),
      contextTokens: count(
        model['context_window'] ?? model['context_length'] ?? model['max_model_len'] ?? meta['n_ctx_train'],
      ),
      outputTokens: count(model['max_completion_tokens']),
      shutdownDate: shutdownDate(model['shutdown_date']),
    });
  });
};

export const listAnthropicModels: ListModels = async (request) => {
  const headers = { 'x-api-key': request.key ?? '', 'anthropic-version': '2023-06-01' };
  const models: ListedModel[] = [];
  let after = '';
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await readPage(request, `${request.baseAddress}/models?limit=1000${after}`, headers);
    for (const model of records(page['data'])) {
      const name = text(model['id']);
      if (!name) continue;
      models.push(
        listed(name, {
          title: text(model['display_name']),
          contextTokens: count(model['max_input_tokens']),
          outputTokens: count(model['max_tokens']),
        }),
      );
    }
    const last = text(page['last_id']);
    if (page['has_more'] !== true || !last) break;
    after = `&after_id=${encodeURIComponent(last)}`;
  }
  return models;
};

export const listGeminiModels: ListModels = async (request) => {
  // The key travels in a header: in the address it would end up in the logs of gateways.
  const headers = { 'x-goog-api-key': request.key ?? '' };
  const models: ListedModel[] = [];
  let token = '';
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await readPage(request, `${request.baseAddress}/models?pageSize=1000${token}`, headers);
    for (const model of records(page['models'])) {
      const name = text(model['name'])?.replace(/^models\//, '');
      const methods = model['supportedGenerationMethods'];
      if (!name || !isTextModelName(name)) continue;
      if (Array.isArray(methods) && !methods.includes('generateContent')) continue;
      models.push(
        listed(name, {
          title: text(model['displayName']),
          contextTokens: count(model['inputTokenLimit']),
          outputTokens: count(model['outputTokenLimit']),
        }),
      );
    }
    const next = text(page['nextPageToken']);
    if (!next) break;
    token = `&pageToken=${encodeURIComponent(next)}`;
  }
  return models;
};

export const listCohereModels: ListModels = async (request) => {
  // Chat is version 2 of Cohere's API, the list of models is still version 1.
  const address = `${request.baseAddress.replace(/\/v2$/, '/v1')}/models?endpoint=chat&page_size=1000`;
  const models: ListedModel[] = [];
  let token = '';
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await readPage(request, address + token, bearer(request.key));
    for (const model of records(page['models'])) {
      const name = text(model['name']);
      if (name && isTextModelName(name)) models.push(listed(name, { contextTokens: count(model['context_length']) }));
    }
    const next = text(page['next_page_token']);
    if (!next) break;
    token = `&page_token=${encodeURIComponent(next)}`;
  }
  return models;
};
