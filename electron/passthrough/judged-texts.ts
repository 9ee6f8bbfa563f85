import { type Fields, isObject, objectOf } from './fields.ts';
import type { CallApi } from './read-request.ts';

/** Fields with words of the APIs, ids and numbers. */
const plainKeys = new Set(
  (
    'id object model type role status index item_id call_id tool_call_id tool_use_id finish_reason stop_reason finishReason event ' +
    'service_tier system_fingerprint obfuscation responseId modelVersion createTime mimeType mime_type media_type phase signature ' +
    'encrypted_content thoughtSignature thought_signature data b64_json result partial_image_b64'
  ).split(' '),
);
/** Characters of ids, of words and of base64. */
const plainValue = /^[\w.:/+=-]*$/;

/** What no model wrote, and what repeats an answer in pieces. */
const otherKeys = new Set(
  (
    'usage usageMetadata logprobs logprobs_result logprobsResult safetyRatings groundingMetadata citationMetadata annotations ' +
    'citations embedding prompt_filter_results content_filter_results'
  ).split(' '),
);

/** The fields of a response object. Its others repeat the request. */
const responseKeys = ['output', 'output_text', 'error'] as const;

function answerIn(api: CallApi, value: Fields): Fields {
  if (api !== 'openai-responses') return value;
  const response = isObject(value['response']) ? value['response'] : value['type'] === undefined ? value : null;
  return response === null ? value : Object.fromEntries(responseKeys.map((name) => [name, response[name]]));
}

/** Everything textual of a response, whatever its fields are called. Pieces of one text in several events are joined. */
export class JudgedTexts {
  readonly #api: CallApi;
  /** The pieces of each text, by where it is. */
  readonly #texts = new Map<number, string[]>();
  readonly #positions = new Map<string, number>();
  #last: { readonly pieces: string[]; readonly text: string }[] = [];
  #known: string[] = [];

  constructor(api: CallApi) {
    this.#api = api;
  }

  /** A whole response, or one event of a stream. */
  add(value: Fields): void {
    this.#last = [];
    if (this.#api === 'openai-embeddings') return;
    this.#visitObject(answerIn(this.#api, value), 0);
  }

  /** The next known pieces belong where this text of the last event does. */
  learn(text: string): void {
    this.#known = this.#last.find((one) => one.text === text)?.pieces ?? this.#known;
  }

  addKnown(text: string): void {
    this.#known.push(text);
  }

  /** All texts, each once: streams repeat at the end what they sent in pieces. */
  get text(): string {
    return [...new Set([...this.#texts.values()].map((pieces) => pieces.join('')))].join('\n');
  }

  /** The number of a position below another one. Names can be long, and there are many texts below them. */
  #below(position: number, name: string): number {
    const key = `${position} ${name}`;
    let number = this.#positions.get(key);
    if (number === undefined) this.#positions.set(key, (number = this.#positions.size + 1));
    return number;
  }

  #visit(value: unknown, position: number): void {
    if (typeof value === 'string') this.#add(value, position);
    else if (isObject(value)) this.#visitObject(value, position);
    else if (Array.isArray(value))
      for (const [index, item] of value.entries()) {
        // Several pieces may come in one event, or one by one.
        const isNumbered = Object.keys(objectOf(item)).some((name) => name.endsWith('index'));
        this.#visit(item, isNumbered ? position : this.#below(position, String(index)));
      }
  }

  #visitObject(value: Fields, position: number): void {
    const entries = Object.entries(value);
    const numbers = entries.filter(([name, number]) => name.endsWith('index') && typeof number === 'number');
    const type = typeof value['type'] === 'string' ? value['type'] : '';
    const here = this.#below(position, `${type} ${numbers.flat().join(' ')}`);
    for (const [name, child] of entries) {
      if (otherKeys.has(name)) continue;
      if (typeof child === 'string' && plainKeys.has(name) && plainValue.test(child)) continue;
      const field = this.#below(here, `.${name}`);
      if (isObject(child) && (name === 'input' || name === 'args')) this.#add(JSON.stringify(child), field);
      else this.#visit(child, field);
    }
  }

  #add(text: string, position: number): void {
    if (text === '') return;
    let pieces = this.#texts.get(position);
    if (!pieces) this.#texts.set(position, (pieces = []));
    pieces.push(text);
    this.#last.push({ pieces, text });
  }
}
