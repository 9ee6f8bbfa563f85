/** A value as OTLP writes it. */
export function otlpValue(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  return { kvlistValue: { values: otlpAttributes(value as Record<string, unknown>) } };
}

export function otlpAttributes(attributes: Record<string, unknown>): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));
}

export interface TestSpan {
  readonly traceId?: string;
  readonly spanId: string;
  readonly attributes: Record<string, unknown>;
  readonly events?: readonly { readonly name: string; readonly attributes: Record<string, unknown> }[];
  readonly status?: { readonly code: number; readonly message?: string };
  /** Milliseconds since 1970. */
  readonly start?: number;
  readonly milliseconds?: number;
}

const defaultStart = Date.UTC(2026, 10, 20, 12);

/** A request of OTLP with the spans of one program. */
export function otlpRequest(spans: readonly TestSpan[], service = 'claims-bot'): Record<string, unknown> {
  return {
    resourceSpans: [
      {
        resource: { attributes: otlpAttributes({ 'service.name': service }) },
        scopeSpans: [
          {
            spans: spans.map(({ attributes, events = [], start = defaultStart, milliseconds = 1500, ...span }) => ({
              traceId: '5b8aa5a2d2c872e8321cf37308d69df2',
              ...span,
              kind: 3,
              startTimeUnixNano: `${start}000000`,
              endTimeUnixNano: `${start + milliseconds}000000`,
              attributes: otlpAttributes(attributes),
              events: events.map((event) => ({ name: event.name, attributes: otlpAttributes(event.attributes) })),
            })),
          },
        ],
      },
    ],
  };
}

/** The attributes of a chat with a question and an answer, in the current conventions. */
export function chatAttributes(question: string, answer: string): Record<string, unknown> {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.usage.input_tokens': 120,
    'gen_ai.usage.output_tokens': 30,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }]),
    'gen_ai.output.messages': JSON.stringify([
      { role: 'assistant', parts: [{ type: 'text', content: answer }], finish_reason: 'stop' },
    ]),
  };
}
