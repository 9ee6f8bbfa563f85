import type { RunDetail } from './contract/runs.ts';

/** Fields of a recorded call of OpenAI's responses that stand for messages at the provider. */
const continuedFields = ['previous_response_id', 'conversation', 'item_reference'];

/** The field that stands for messages which a recorded call doesn't have; null if it has its whole conversation. */
export function continuedField(api: string, configuration: object | null): string | null {
  if (api !== 'openai-responses' || configuration === null) return null;
  const entries = new Map<string, unknown>(Object.entries(configuration));
  return continuedFields.find((name) => (entries.get(name) ?? '') !== '') ?? null;
}

/** Why a run can't be sent again as it was; null if it can. */
export function missingMessages({ origin, input }: Pick<RunDetail, 'origin' | 'input'>): string | null {
  const field = continuedField(origin.api, input.configuration);
  if (field === null) return null;
  return `This call continues messages at the provider that aren't recorded (${field}), so it can't be sent again without them.`;
}
