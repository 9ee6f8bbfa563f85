// @module-tag slow
import { Dotprompt, type Message } from 'dotprompt';
import nunjucks from 'nunjucks';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeFiles } from '../../../../electron/prompts/transfer/export-prompts.ts';
import type { ExportFormat } from '../../../../shared/contract/prompt-transfer.ts';
import { promptInput, type PromptInput } from '../../../../shared/contract/prompts.ts';
import { textMessage } from '../../../../shared/contract/messages.ts';
import { joinMessages, type WrittenBlock } from '../../../../shared/prompt-messages.ts';
import { parseTemplate, renderMessages, renderTemplate } from '../../../../shared/prompt-template.ts';
import { fc } from '../../../support/fast-check.ts';
import { fixture, storedPrompt, preview, previewFixture } from '../../../support/prompt-transfer.ts';

const names = ['name', 'city', 'first-name', 'x1', 'text'] as const;
const values = {
  name: 'Ada <b>',
  city: '',
  'first-name': '"Q"',
  x1: '7',
  text: 'a\nb',
  o: { k: 'deep' },
  l: ['one', 'two'],
};

const plain = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('{', '}', '\\', '\n', ' ', '-', '---\n', '"', ':', '#', '\t', 'é', '{{!}}', '%', '\r'),
    maxLength: 12,
  }),
);
const template = fc
  .array(
    fc.oneof(
      plain,
      fc.constantFrom(...names).map((name) => `{{${name}}}`),
      fc.constantFrom(
        '{{#if city}}\nyes\n{{else}}\nno\n{{/if}}',
        '{{#unless name}}x{{/unless}}',
        '{{o.k}}',
        '{{{text}}}',
        '{{~ name ~}}',
        '{{! note }}',
        '\\{{name}}',
        '{{#if name}}{{#if city}}a{{/if}}{{else if x1}}b{{/if}}',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  // Blanks after a last tag belong to its line, and readers of `.prompt` files cut them off before they see the tag.
  .filter((text) => text.trim() !== '' && !/\}\}[^\S\n]+$/.test(text) && parseTemplate(text).problems.length === 0);

const words = fc.oneof(
  plain,
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed()),
);
const someText = words.filter((text) => text.trim() !== '' && !text.includes('\0'));
const optional = fc.option(someText, { nil: null });
const model = fc.constantFrom(
  { aiSystem: null, model: null },
  { aiSystem: 'OpenAi', model: 'gpt-4.1' },
  { aiSystem: 'GoogleGemini', model: 'gemini-2.5-flash' },
  { aiSystem: 'OpenAiCompatible', model: 'local/llama:8b' },
  { aiSystem: 'ServiceAi', model: 'small' },
);
const configuration = fc.option(
  fc
    .record(
      {
        temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((number) => number || 0),
        top_p: fc.constantFrom(0, 0.5, 1),
        top_k: fc.integer({ min: 1, max: 99 }),
        max_tokens: fc.integer({ min: 1, max: 9999 }),
        stop: fc.oneof(plain, fc.array(plain, { minLength: 1, maxLength: 3 })),
        seed: fc.integer(),
        reasoning_effort: fc.constantFrom('low', 'high'),
        response_format: fc.constantFrom(
          { type: 'json_object' as const },
          { type: 'json_schema' as const, json_schema: { name: 'a', schema: { type: 'object' } } },
        ),
        safety: fc.constantFrom({ level: ['a', { b: null }] }),
      },
      { requiredKeys: [] },
    )
    .filter((settings) => Object.keys(settings).length > 0),
  { nil: null },
);
const variable = fc.record({
  name: fc.oneof(
    fc.constantFrom(...names),
    someText.filter((name) => name.length <= 200),
  ),
  description: optional,
  defaultValue: fc.option(
    words.filter((text) => !text.includes('\0')),
    { nil: null },
  ),
  sampleValue: optional,
});
const prompt = fc
  .record({
    name: someText.map((name) => name.trim()).filter((name) => name !== ''),
    folder: optional,
    tags: fc.array(someText, { maxLength: 3 }),
    description: optional,
    promptText: template,
    systemMessage: fc.option(someText, { nil: null }),
    model,
    configuration,
    variables: fc.uniqueArray(variable, { selector: ({ name }) => name, maxLength: 3 }),
    note: optional,
  })
  .map(({ model: chosen, ...rest }) => promptInput.parse({ ...rest, ...chosen }));

/** What a prompt is after an export to a format and an import of the file. */
function roundTrip(input: PromptInput, format: ExportFormat): { content: string; back: PromptInput | undefined } {
  const { files, entries } = writeFiles({ exported: [storedPrompt(input)], format });
  const [file] = files;
  if (file === undefined) throw new Error(entries[0]?.message);
  const source = preview(file.name, Buffer.from(file.content));
  return { content: file.content, back: source.prompts[0]?.prompt };
}

/** The same with everything that is not there left out, so that an absent field equals an empty one. */
function details(input: PromptInput | undefined) {
  const {
    prompt: { id: _, latestVersionId: __, ...outer },
    version,
  } = storedPrompt(input!);
  return { ...outer, ...version };
}

test.each(['dotprompt', 'jsonl'] as const)(
  'a prompt that is exported as %s and imported again is the same prompt',
  (format) => {
    fc.assert(
      fc.property(prompt, (input) => {
        const { content, back } = roundTrip(input, format);
        expect({ content, prompt: details(back) }).toEqual({ content, prompt: details(input) });
      }),
      { numRuns: 300 },
    );
  },
);

const rendered = (text: string) => renderTemplate(parseTemplate(text), values).text;
const textOf = (message: Message | undefined) => message?.content.map((part) => part.text ?? '').join('') ?? '';

test('the dotprompt package renders exported files as the service does', async () => {
  const dotprompt = new Dotprompt();
  await fc.assert(
    fc.asyncProperty(prompt, async (input) => {
      const { content } = roundTrip(input, 'dotprompt');
      const parsed = dotprompt.parse(content);
      const { messages } = await dotprompt.render(content, { input: values });
      const of = (role: string) => textOf(messages.find((message) => message.role === role));
      const expected = rendered(input.promptText);
      // The package leaves out messages of white space alone.
      const seen = (text: string) => (text.trim() === '' ? '' : text);
      expect({ content, name: parsed.name, system: seen(of('system')), user: seen(of('user')) }).toEqual({
        content,
        name: input.name,
        system: input.systemMessage ?? '',
        user: seen(expected),
      });
    }),
    { numRuns: 200 },
  );
});

test('Nunjucks renders exported promptfoo files as the service does, and those without conditions have the same meaning after import', () => {
  const environment = new nunjucks.Environment(null, { autoescape: false });
  const plainNames = template.filter((text) => !text.includes('first-name'));
  fc.assert(
    fc.property(prompt, plainNames, (input, promptText) => {
      const requested = { ...input, promptText };
      // A template that renders as nothing is no prompt when it comes back.
      fc.pre(rendered(promptText).trim() !== '');
      fc.pre(!/\{%-?\s*endraw/.test(promptText + (input.systemMessage ?? '')));
      const { content, back } = roundTrip(requested, 'promptfoo');
      const [entry] = (parse(content) as { prompts: { raw: string; label: string }[] }).prompts;
      const chat = input.systemMessage ? (JSON.parse(entry!.raw) as { content: string }[]) : [{ content: entry!.raw }];
      const texts = chat.map((message) => environment.renderString(message.content, values));
      const expected = [...(input.systemMessage ? [input.systemMessage] : []), rendered(promptText)];
      expect({ content, texts }).toEqual({ content, texts: expected });
      if (content.includes('{% if')) return;
      expect({ name: back?.name, system: back?.systemMessage ?? null, text: rendered(back?.promptText ?? '') }).toEqual(
        {
          name: input.name,
          system: input.systemMessage ?? null,
          text: rendered(promptText),
        },
      );
    }),
    { numRuns: 200 },
  );
});

test.each(['support-reply.prompt', 'extract.prompt', 'no-front-matter.prompt'])(
  'the dotprompt package returns the same messages for %s before import and after export',
  async (name) => {
    const dotprompt = new Dotprompt({ tools: { lookupOrder: { name: 'lookupOrder', inputSchema: {} } } });
    const imported = previewFixture(`dotprompt/${name}`).prompts[0]!.prompt;
    const [file] = writeFiles({ exported: [storedPrompt(imported)], format: 'dotprompt' }).files;
    const input = {
      customer: 'Ada',
      question: 'Where?',
      tone: 'formal',
      people: [{ name: 'Bo' }],
      text: 't',
      topic: 'bees',
    };
    const messagesOf = async (source: string) => {
      const { messages } = await dotprompt.render(source, { input });
      return messages.map((message) => ({ role: message.role, text: textOf(message).trim() }));
    };
    expect(await messagesOf(file!.content)).toEqual(await messagesOf(fixture(`dotprompt/${name}`).toString()));
  },
);

test('a prompt of a million fences is exported to Markdown in a longer fence', () => {
  const promptText = '```\n'.repeat(1_000_000);
  const [file] = writeFiles({ exported: [storedPrompt({ name: 'Fences', promptText })], format: 'markdown' }).files;
  expect(file!.content).toContain(`\n\`\`\`\`handlebars\n${promptText}`);
});

const roleTag = fc.constantFrom(
  '{{role "system"}}',
  '{{role "user"~}}\n',
  '\n{{~role "model"~}}\n',
  "{{role 'assistant'}}",
  '{{!}}\n',
);
const conversation = fc
  .array(fc.oneof(roleTag, template, fc.constantFrom('{{history}}', '{{#each l}}{{role "user"}}{{this}}{{/each}}')), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''))
  .filter((text) => text.trim() !== '' && !/\}\}[^\S\n]+$/.test(text) && parseTemplate(text).problems.length === 0);

test.each(['dotprompt', 'jsonl'] as const)(
  'messages that are exported as %s come back as they were written',
  (format) => {
    let several = 0;
    fc.assert(
      fc.property(conversation, fc.option(someText, { nil: null }), (promptText, systemMessage) => {
        const input = promptInput.parse({ name: 'p', promptText, systemMessage });
        if (parseTemplate(promptText).hasRoles) several++;
        const { content, back } = roundTrip(input, format);
        expect({ content, prompt: details(back) }).toEqual({ content, prompt: details(input) });
      }),
      { numRuns: 400 },
    );
    expect(several).toBeGreaterThan(50);
  },
);

const blocks = fc.array(
  fc.record({
    role: fc.constantFrom('system', 'user', 'assistant'),
    text: fc.constantFrom('Hi {{name}}', ' {{city}} x\n', 'a {"b": 1}', '{% if %}', '\\{{name}}'),
  }),
  { minLength: 1, maxLength: 5 },
);

test('messages that are exported for promptfoo have the same meaning after import', () => {
  fc.assert(
    fc.property(blocks, (messages) => {
      const promptText = joinMessages([...messages, { role: 'user', text: 'And {{name}}?' }] as WrittenBlock[]);
      const { back } = roundTrip(promptInput.parse({ name: 'p', promptText }), 'promptfoo');
      const sent = ({ promptText: text, systemMessage }: Pick<PromptInput, 'promptText' | 'systemMessage'>) => [
        ...(systemMessage ? [textMessage('system', systemMessage)] : []),
        ...renderMessages(parseTemplate(text), values).messages,
      ];
      expect(sent(back!)).toEqual(sent({ promptText }));
    }),
    { numRuns: 200 },
  );
});
