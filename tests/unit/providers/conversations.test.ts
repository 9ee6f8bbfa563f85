import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Message, textMessage } from '../../../shared/contract/messages.ts';
import { messageWarnings } from '../../../electron/providers/message-rules.ts';
import type { Provider } from '../../../electron/providers/provider.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

const world = useProviderConnection();

type Name = 'OpenAi' | 'Anthropic' | 'GoogleGemini' | 'Groq' | 'Cohere' | 'OpenAiCompatible';

function connect(name: Name): Provider {
  const { baseAddress } = world.server;
  const settings = { title: name, baseAddress, key: 'the-key', transport: world.openTransport() };
  return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
}

/** The body that a provider gets for a conversation. */
async function bodyOf(name: Name, file: string, messages: readonly Message[]): Promise<Record<string, unknown>> {
  const recorded = readFileSync(new URL(`../../fixtures/providers/${file}.json`, import.meta.url), 'utf8');
  world.server.answerWith((call) => call.head(200).end(recorded));
  await connect(name).generate({ ...modelRequest('gpt-4o'), systemMessage: 'One.', messages }, { signal: noAbort() });
  return world.server.calls[0]!.body;
}

const conversation = [
  textMessage('system', 'Two.'),
  textMessage('user', 'a'),
  textMessage('user', 'b'),
  textMessage('assistant', 'c'),
  textMessage('user', 'd'),
];

describe('the format of a conversation', () => {
  const chat = [
    { role: 'system', content: 'One.' },
    { role: 'system', content: 'Two.' },
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c' },
    { role: 'user', content: 'd' },
  ];
  const text = (value: string) => ({ type: 'text', text: value });
  const input = (value: string) => [{ type: 'input_text', text: value }];
  it.each([
    [
      'OpenAi',
      'open-ai',
      {
        input: [
          { role: 'system', content: 'One.' },
          { role: 'system', content: 'Two.' },
          { role: 'user', content: input('a') },
          { role: 'user', content: input('b') },
          { role: 'assistant', content: 'c' },
          { role: 'user', content: input('d') },
        ],
      },
    ],
    [
      'Anthropic',
      'anthropic',
      {
        system: [text('One.'), text('Two.')],
        messages: [
          { role: 'user', content: [text('a'), text('b')] },
          { role: 'assistant', content: [text('c')] },
          { role: 'user', content: [text('d')] },
        ],
      },
    ],
    [
      'GoogleGemini',
      'google-gemini',
      {
        systemInstruction: { parts: [{ text: 'One.' }, { text: 'Two.' }] },
        contents: [
          { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
          { role: 'model', parts: [{ text: 'c' }] },
          { role: 'user', parts: [{ text: 'd' }] },
        ],
      },
    ],
    ['Groq', 'groq', { messages: chat }],
    ['Cohere', 'cohere', { messages: chat }],
    ['OpenAiCompatible', 'open-ai-compatible', { messages: chat }],
  ] as const)('of %s', async (name, file, body) => {
    expect(await bodyOf(name, file, conversation)).toMatchObject(body);
  });
});

describe('rules of conversations', () => {
  const later = [textMessage('user', 'a'), textMessage('system', 'b'), textMessage('user', 'c')];
  const started = [textMessage('user', 'a'), textMessage('assistant', 'b')];

  it.each(['OpenAi', 'Anthropic', 'Groq', 'Cohere', 'OpenAiCompatible', 'on-device'] as const)(
    '%s takes system messages anywhere',
    (name) => expect(messageWarnings(name, later)).toEqual([]),
  );

  it('Gemini rejects system messages after others, and an assistant message at the end', () => {
    const details = (messages: readonly Message[]) => {
      try {
        return messageWarnings('GoogleGemini', messages);
      } catch (error) {
        return (error as { details: unknown }).details;
      }
    };
    expect(details(later)).toEqual([
      { field: 'promptText', issue: "has a system message after other messages, which Google Gemini doesn't support" },
    ]);
    expect(details(started)).toEqual([
      {
        field: 'promptText',
        issue: 'ends with an assistant message, and Google Gemini needs a user message at the end',
      },
    ]);
    expect(details(conversation)).toEqual([]);
  });

  it('OpenAI answers after an assistant message at the end, with a warning', () => {
    expect(messageWarnings('OpenAi', started)).toEqual([
      { code: 'answer-not-continued', message: expect.stringContaining("OpenAI doesn't continue it") },
    ]);
    expect(messageWarnings('Anthropic', started)).toEqual([]);
  });
});
