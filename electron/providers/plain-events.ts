/** The text of an event that has nothing else to say; null for every other event. */
export type PlainText = (event: unknown) => string | null;

/** What the events of a stream say about the end of its answer, in the fields of a whole response. */
export interface AnswerEnd {
  readonly finish_reason?: string;
  readonly usage?: unknown;
}

/** What an event without text says about the end, which can be nothing. Null for an event that has anything else to say. */
export type ReadEnd = (event: unknown) => AnswerEnd | null;

/** After so many events that no later one was like, no more are learned. OpenAI and Gemini have something new in each. */
const maxAttempts = 8;

/**
 * Reads the events of a stream that are like an earlier one but for their text, as most of them are. Of such an event only the text is parsed.
 * What `plainText` checks must not depend on the text.
 */
export class RepeatedEvents {
  readonly #plainText: PlainText;
  #before = '';
  #after = '';
  #attempts = 0;

  constructor(plainText: PlainText) {
    this.#plainText = plainText;
  }

  /** The text of such an event; null for every other event. */
  textOf(data: string): string | null {
    const [before, after] = [this.#before, this.#after];
    if (before === '' || !data.startsWith(before) || !data.endsWith(after)) return null;
    try {
      // A whole literal: what is around it has the same meaning as in the earlier event.
      const text = JSON.parse(data.slice(before.length, data.length - after.length)) as unknown;
      if (typeof text !== 'string') return null;
      this.#attempts = 0;
      return text;
    } catch {
      return null;
    }
  }

  /** Notes an event and its text. */
  learn(data: string, text: string): void {
    if (this.#attempts >= maxAttempts) return;
    this.#attempts += 1;
    const literal = JSON.stringify(text);
    const at = data.lastIndexOf(literal);
    if (at < 0) return;
    const [before, after] = [data.slice(0, at), data.slice(at + literal.length)];
    // The same literal can be the value of another field.
    const other = `${text}.`;
    if (this.#plainText(JSON.parse(before + JSON.stringify(other) + after)) !== other) return;
    this.#before = before;
    this.#after = after;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an object has no field beyond the known ones, except those that are null. */
function hasOnly(value: unknown, known: ReadonlySet<string>): value is Fields {
  if (!isObject(value)) return false;
  for (const name in value) if (!known.has(name) && value[name] !== null) return false;
  return true;
}

function only(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

// What an event may have besides its text, without a meaning for the answer.
const chatChunk = new Set([
  'id',
  'object',
  'created',
  'model',
  'service_tier',
  'system_fingerprint',
  'obfuscation',
  'choices',
]);
const chatChoice = new Set(['index', 'delta']);
const chatDelta = new Set(['role', 'content']);
const chatEndChunk = new Set([...chatChunk, 'usage']);
const chatEndChoice = new Set([...chatChoice, 'finish_reason']);
const textDelta = new Set([
  'type',
  'item_id',
  'output_index',
  'content_index',
  'delta',
  'sequence_number',
  'obfuscation',
  'logprobs',
]);
const contentDelta = new Set(['type', 'index', 'delta']);
const typedText = new Set(['type', 'text']);
const geminiChunk = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']);
const geminiCandidate = new Set(['content', 'index', 'safetyRatings']);
const geminiContent = new Set(['parts', 'role']);
const textField = new Set(['text']);
const cohereDelta = new Set(['message']);
const cohereMessage = new Set(['content']);

/** OpenAI's chat completions, and every API that copies them. */
export const chatText: PlainText = (event) => {
  if (!hasOnly(event, chatChunk)) return null;
  const choice = only(event['choices']);
  if (!hasOnly(choice, chatChoice) || choice['index'] !== 0) return null;
  return hasOnly(choice['delta'], chatDelta) ? textOrNull(choice['delta']['content']) : null;
};

/** The end of OpenAI's chat completions: the role, the finish reason and the usage come in events of their own, or with an empty text. */
export const chatEnd: ReadEnd = (event) => {
  if (!hasOnly(event, chatEndChunk)) return null;
  const { choices, usage } = event;
  if (!Array.isArray(choices) || choices.length > 1) return null;
  const choice: unknown = choices[0] ?? {};
  if (!hasOnly(choice, chatEndChoice)) return null;
  const { delta, finish_reason: reason } = choice;
  if (delta != null && !(hasOnly(delta, chatDelta) && (delta['content'] ?? '') === '')) return null;
  if (reason != null && typeof reason !== 'string') return null;
  return { ...(reason != null && { finish_reason: reason }), ...(usage != null && { usage }) };
};

/** OpenAI's responses. */
export const responsesText: PlainText = (event) => {
  if (!hasOnly(event, textDelta) || event['type'] !== 'response.output_text.delta') return null;
  const probabilities = event['logprobs'];
  if (Array.isArray(probabilities) && probabilities.length > 0) return null;
  return textOrNull(event['delta']);
};

/** Anthropic's messages. */
export const messagesText: PlainText = (event) => {
  if (!hasOnly(event, contentDelta) || event['type'] !== 'content_block_delta') return null;
  const delta = event['delta'];
  return hasOnly(delta, typedText) && delta['type'] === 'text_delta' ? textOrNull(delta['text']) : null;
};

/** Gemini's stream. Its last chunk repeats the usage. */
export const geminiText: PlainText = (event) => {
  if (!hasOnly(event, geminiChunk)) return null;
  const candidate = only(event['candidates']);
  if (!hasOnly(candidate, geminiCandidate) || !hasOnly(candidate['content'], geminiContent)) return null;
  const part = only(candidate['content']['parts']);
  return hasOnly(part, textField) ? textOrNull(part['text']) : null;
};

/** Cohere's chat. */
export const cohereText: PlainText = (event) => {
  if (!hasOnly(event, contentDelta) || event['type'] !== 'content-delta') return null;
  const delta = event['delta'];
  if (!hasOnly(delta, cohereDelta) || !hasOnly(delta['message'], cohereMessage)) return null;
  const content = delta['message']['content'];
  return hasOnly(content, textField) ? textOrNull(content['text']) : null;
};
