import type { ProviderFetch } from './provider-fetch.ts';
import type { ListedModel } from './provider.ts';
import { ProviderFailure, failureFromStatus, type ProviderIdentity } from './provider-error.ts';

export interface ListRequest extends ProviderIdentity {
  readonly transport: ProviderFetch;
  readonly signal: AbortSignal;
}

/** Fetches the list of a provider's text models. */
export type ListModels = (request: ListRequest) => Promise<ListedModel[]>;

type Fields = Record<string, unknown>;

/** More pages than any provider has. Stops an endless list. */
export const maxListPages = 50;

/** Of all pages of a list. The longest known list has 500 KB. */
const maxListBytes = 16 * 1_048_576;

const bytesRead = new WeakMap<ListRequest, number>();

const otherThanText =
  /embed|rerank|whisper|tts|audio|speech|transcri|realtime|image|dall-e|imagen|veo|sora|lyria|video|moderation|guard|orpheus|davinci|babbage|\baqa\b|computer-use|robotics|\blive\b/i;

/** Whether a model reads and writes text, judging by its name. */
export function isTextModelName(name: string): boolean {
  return !otherThanText.test(name);
}

export function textField(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function countField(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}

export function recordsField(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** Creates a `ListedModel` without the undefined fields. */
export function listedModel(
  name: string,
  details: { [Key in keyof Omit<ListedModel, 'name'>]: ListedModel[Key] | undefined },
) {
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  return { name, ...Object.fromEntries(known) } as ListedModel;
}

export async function readListPage(
  request: ListRequest,
  address: string,
  headers: Record<string, string>,
): Promise<Fields> {
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

export function bearerHeaders(key: string | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** `YYYY-MM-DD` from a date, a date-time or seconds since 1970. */
function shutdownDate(value: unknown): string | undefined {
  // Null for a number that is no date, such as one in microseconds.
  const text = typeof value === 'number' && value > 0 ? new Date(value * 1000).toJSON() : textField(value);
  return /^\d{4}-\d{2}-\d{2}/.exec(text ?? '')?.[0];
}

/** The list in OpenAI's format. Groq, vLLM, llama.cpp and gateways add fields. */
export const listOpenAiModels: ListModels = async (request) => {
  const page = await readListPage(request, `${request.baseAddress}/models`, bearerHeaders(request.key));
  return recordsField(page['data']).flatMap((model) => {
    const name = textField(model['id']);
    if (!name || !isTextModelName(name) || model['active'] === false) return [];
    const meta = (model['meta'] ?? {}) as Fields;
    return listedModel(name, {
      title: textField(model['display_name']),
      contextTokens: countField(
        model['context_window'] ?? model['context_length'] ?? model['max_model_len'] ?? meta['n_ctx_train'],
      ),
      outputTokens: countField(model['max_completion_tokens']),
      shutdownDate: shutdownDate(model['shutdown_date']),
    });
  });
};
