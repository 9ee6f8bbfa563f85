import { describe, expect, test } from 'vitest';
import { writeFiles } from '../../../../electron/prompts/transfer/export-prompts.ts';
import { createFileNames } from '../../../../electron/prompts/transfer/writers/exported-prompt.ts';
import type { PreviewedSource } from '../../../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../../../shared/contract/prompts.ts';
import { storedPrompt, preview, previewFixture, reported } from '../../../support/prompt-transfer.ts';

/** Fields of a prompt that have a value. */
function details(input: PromptInput | undefined): Record<string, unknown> {
  const isThere = (value: unknown) =>
    value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => isThere(value)));
}

const detailsOf = (source: PreviewedSource) => source.prompts.map(({ prompt }) => details(prompt));

describe('dotprompt', () => {
  test('imports model, settings, variables and roles, and rejects tools with their line', () => {
    const source = previewFixture('dotprompt/support-reply.prompt');
    expect(detailsOf(source)).toEqual([
      {
        name: 'support-reply',
        description: 'Answers a customer in the tone of the house',
        promptText: '{{customer}} asks: {{question}}\n{{#if tone}}\nAnswer in a {{tone}} tone.\n{{/if}}',
        systemMessage: 'You are the support desk of a shop for hiking boots. Never promise a refund.',
        aiSystem: 'GoogleGemini',
        model: 'gemini-2.5-flash',
        configuration: expect.objectContaining({ temperature: 0.3, top_p: 0.9, max_tokens: 800, stop: ['END'] }),
        variables: [
          { name: 'customer', description: 'who wrote to us' },
          { name: 'question', description: 'what they asked' },
          { name: 'tone', description: null, defaultValue: 'friendly' },
        ],
      },
    ]);
    expect(reported(source.prompts[0]!)).toEqual(
      expect.arrayContaining([
        'translated config.topP@7: Stored as top_p',
        "refused tools@20: Prompts can't contain tools",
      ]),
    );
  });

  test.each([
    [
      'few-shot',
      '{{role "user"}}\nIs "great boots" praise?\n{{role "model"}}\nyes\n{{role "user"}}\nIs {{text}} praise?',
    ],
    ['helpers', 'Look at this:\n{{media url=url}}'],
  ])('%s keeps its roles and files unchanged', (name, promptText) => {
    const source = previewFixture(`dotprompt/${name}.prompt`);
    expect(source.prompts.map(({ prompt }) => prompt)).toMatchObject([{ promptText, systemMessage: null }]);
  });

  test.each([
    '{{role "system"}}S{{role "user"}}U{{role "model"}}M',
    '{{role "user"}}U{{role "system"}}S',
    '{{role "system"}}S{{history}}',
    '{{#each items}}{{role "user"}}{{this}}{{/each}}',
  ])('%s stays one template', (promptText) => {
    expect(detailsOf(preview('a.prompt', promptText))).toEqual([{ name: 'a', promptText }]);
  });

  test('reports a mistake in the template with its line in the file', () => {
    const source = preview('a.prompt', '---\nname: a\n---\n\nHello\n{{#if x}}\n');
    expect(reported(source)).toEqual(['refused prompt@6: a: {{#if}} is never closed: {{/if}} is missing']);
  });

  test('a system message with variables becomes a role of the prompt, because systemMessage has none', () => {
    const source = preview('a.prompt', '{{role "system"}}Speak {{language}}.{{role "user"}}Hello');
    const promptText = '{{role "system"~}}\nSpeak {{language}}.\n{{~role "user"~}}\nHello';
    expect(detailsOf(source)).toEqual([{ name: 'a', promptText }]);
    expect(reported(source.prompts[0]!)[0]).toBe('translated messages: 2 messages become roles of the prompt');
  });

  test('reports session state, unknown fields and values of a wrong type', () => {
    const fields = [
      'name: 5',
      'temperature: 0.2',
      'config: {temperature: 9, top_k: 3}',
      'input: {schema: {a: string}, examples: [1]}',
      'output: {format: xml}',
      'touchstone.tags: [ok, 4]',
    ];
    const source = preview(
      'a.prompt',
      `---\n${fields.join('\n')}\n---\nHi {{a}}{{#if @state.mood}}!{{/if}}{{! @state.x }}\n{{.}}`,
    );
    expect(detailsOf(source)).toMatchObject([{ name: 'a', tags: ['ok'], configuration: { top_k: 3 } }]);
    expect(reported(source.prompts[0]!).filter((entry) => !entry.startsWith('taken'))).toEqual([
      'refused name@2: Must be text',
      'refused output.format@6: Only json and text are supported',
      'refused input.examples@5: Unknown field',
      'refused touchstone.tags@7: Must be a list of texts',
      'refused temperature@3: Unknown field',
      'warning template@9: {{@state.mood}} renders empty: prompts here have no session state',
      'warning template: {{.}} prints "[object Object]"; name one of the object\'s fields',
      'refused temperature: Must be at most 2',
    ]);
  });
});

describe('promptfoo', () => {
  test('imports prompts, the first provider and values of tests', () => {
    const source = previewFixture('promptfoo/promptfooconfig.yaml');
    const variables = [
      { name: 'language', defaultValue: 'French' },
      { name: 'input', sampleValue: 'Good morning' },
    ];
    const model = {
      aiSystem: 'OpenAi',
      model: 'gpt-4.1',
      configuration: { temperature: 0, max_tokens: 200 },
      variables,
    };
    expect(detailsOf(source)).toEqual([
      { name: 'Translation check 1', promptText: 'Translate into {{language}}: {{input}}', ...model },
      {
        name: 'polite',
        promptText: '{{tone}}: {{input}} in {{language}}',
        systemMessage: 'You translate. You are polite.',
        ...model,
        variables: [...variables, { name: 'tone', sampleValue: 'Formally, please' }],
      },
    ]);
    expect(reported(source)).toEqual([
      "refused prompt@10: Translation check 3: prompts/long.txt isn't among the imported files; add it, or import the whole folder",
      "refused prompt@11: Translation check 4: {% for word in words %} isn't a plain variable such as {{ name }}",
    ]);
    expect(reported(source.prompts[0]!)).toContain(
      'refused providers[0].config.apiKey@13: May contain a secret; prompts never store secrets',
    );
    expect(JSON.stringify(source)).not.toContain('sk-not-a-real-key');
  });

  test('is read as such, by its name or its first line, if a prompt in it mentions a role', () => {
    const yaml = `prompts:\n  - 'Explain {{role "user"}} in {{language}}'\n`;
    for (const name of ['a.yaml', 'pasted']) expect(preview(name, yaml).format).toBe('promptfoo');
  });

  test('anchors are followed', () => {
    expect(detailsOf(previewFixture('promptfoo/shared-anchors.yaml')).map(({ promptText }) => promptText)).toEqual([
      'Summarise {{text}}',
      'Summarise {{text}}',
    ]);
  });
});

describe('CSV', () => {
  test('each row is a prompt under the names of its columns', () => {
    const table = [
      'Name;Prompt Text;System Prompt;Folder;Tags;Model;Provider;Temperature;maxTokens;Owner',
      'Greeting;"Hello {{name}};\nwelcome";Be kind;mail/new;a, b;gpt-4.1;OpenAI;0.2;200;Ada',
      '',
      ';Bye {name};;;;;;warm;;',
      'Nothing;;;;;;;;;',
      'Long;a;b;c;d;e;f;0;1;2;3;4',
      'Open;"never closed;;;;;;;;',
    ].join('\r\n');
    const source = preview('lists/team.csv', table, { folder: 'Imported' });
    expect([source.format, detailsOf(source)]).toEqual([
      'csv',
      [
        {
          name: 'Greeting',
          promptText: 'Hello {{name}};\nwelcome',
          systemMessage: 'Be kind',
          folder: 'Imported/mail/new',
          tags: ['a', 'b'],
          aiSystem: 'OpenAi',
          model: 'gpt-4.1',
          configuration: { temperature: 0.2, max_tokens: 200 },
        },
        { name: 'team 2', promptText: 'Bye {{name}}', folder: 'Imported/lists' },
      ],
    ]);
    expect(reported(source)).toEqual([
      'refused prompt@6: Nothing: The row has no prompt',
      'refused prompt@7: Long: The row has 12 cells and the header 10; put text with separators in quotes',
      'refused prompt@8: Open: A quotation mark is missing or not doubled',
    ]);
    expect(reported(source.prompts[0]!)).toContain('refused Owner@1: Unknown column; skipped in every row');
    expect(reported(source.prompts[1]!)).toContainEqual(expect.stringContaining('refused temperature:'));
  });

  test('a table without prompts names the missing column', () => {
    expect(reported(preview('a.csv', 'city,country\nParis,France'))).toEqual([
      'refused file@1: No prompt column found; name a column "prompt", "promptText" or "template"',
    ]);
    expect(reported(preview('a.csv', 'prompt\n'))).toEqual(['refused file: The table has no rows']);
  });
});

test('Langfuse: imports chat and text prompts, and the newest version of each name in a list', () => {
  expect(detailsOf(previewFixture('langfuse/chat.json'))).toEqual([
    {
      name: 'movie-critic',
      tags: ['movies'],
      promptText: 'Do you like {{movie}}, {{ name }}?',
      systemMessage: 'You are a movie critic.',
      aiSystem: 'OpenAi',
      model: 'gpt-4.1',
      configuration: { temperature: 0.7, supported_languages: ['en', 'fr'] },
      note: 'Ask by name',
    },
  ]);
  expect(detailsOf(previewFixture('langfuse/list.json'))).toEqual([
    { name: 'greeting', tags: ['mail'], promptText: 'Hello {{name}}' },
    { name: 'farewell', promptText: 'Goodbye' },
  ]);
});

describe('OpenAI', () => {
  test('each line of a JSONL file is a prompt or is rejected separately', () => {
    const source = previewFixture('openai/training.jsonl');
    expect(detailsOf(source)).toEqual([
      { name: 'training 1', systemMessage: 'You are terse.', promptText: 'What is JSON like {"a": {"b": 1}}?' },
      {
        name: 'task-1',
        systemMessage: 'Be kind.',
        promptText: 'Greet {{name}}',
        aiSystem: 'OpenAi',
        model: 'gpt-4.1',
        configuration: { max_tokens: 300 },
      },
      { name: 'training 3', promptText: 'One\n{{~role "model"~}}\nTwo\n{{~role "user"~}}\nThree' },
    ]);
    expect(source.entries.map(({ line, message }) => [line, message.slice(0, 30)])).toEqual([
      [4, 'training 4: A message contains'],
      [6, 'training 6: Invalid JSON; the '],
    ]);
  });
});

describe('plain text', () => {
  test('detects single braces', () => {
    expect(detailsOf(previewFixture('text/limerick.txt'))).toEqual([
      { name: 'limerick', promptText: 'Write a limerick about {{topic}}.\nAs JSON: {"lines": ["{{topic}}"]}' },
    ]);
  });

  test('a person can choose that there are no variables', () => {
    const source = preview('a.txt', 'Keep {this} and {{that}}', { variableStyle: 'none' });
    expect(detailsOf(source)).toEqual([{ name: 'a', promptText: 'Keep {this} and \\{{that}}' }]);
  });

  test('folders of files become folders of prompts, below the chosen one', () => {
    expect(detailsOf(preview('mail/late/a.txt', 'x', { folder: 'Imported' }))).toEqual([
      { name: 'a', folder: 'Imported/mail/late', promptText: 'x' },
    ]);
  });
});

test('file names differ from existing ones in another normalization', () => {
  const nameOf = createFileNames('prompt', ['Cafe\u0301.prompt']);
  expect(nameOf({ name: 'Caf\u00E9', folder: null })).toBe('Caf\u00E9 2.prompt');
});

test('file names are safe, short and unique ignoring case', () => {
  const nameOf = createFileNames('prompt');
  const names = [
    'Hello',
    'hello',
    'a/b\\c:*?',
    'CON',
    '..',
    '_partial',
    'x'.repeat(500),
    'v1.2',
    ' \t',
    'naïve \u202e\u0000',
  ];
  expect(names.map((name) => nameOf({ name, folder: null }))).toEqual([
    'Hello.prompt',
    'hello 2.prompt',
    'a-b-c.prompt',
    'CON-prompt.prompt',
    'prompt.prompt',
    'partial.prompt',
    `${'x'.repeat(80)}.prompt`,
    'v1-2.prompt',
    'prompt 2.prompt',
    'naïve.prompt',
  ]);
  expect(nameOf({ name: 'a', folder: '../../etc//mail' })).toBe('prompt/prompt/etc/mail/a.prompt');
});

test('Markdown keeps a text whole, with any fences in it', () => {
  const promptText = 'Use:\n````\ncode\n````';
  const [file] = writeFiles({ exported: [storedPrompt({ name: 'A *b*', promptText })], format: 'markdown' }).files;
  expect(file).toEqual({
    name: 'A -b.md',
    content: expect.stringContaining(`\`\`\`\`\`handlebars\n${promptText}\n\`\`\`\`\``),
  });
  expect(file?.content).toMatch(/^# A \\\*b\\\*\n/);
});

test("reports what a format can't express, and only that prompt has no file", () => {
  const loop = storedPrompt({ name: 'loop', promptText: 'a\n{{#each items}}{{this}}{{/each}}' });
  const plain = storedPrompt({ name: 'plain', promptText: 'Hi {{name}}', aiSystem: 'ServiceAi', model: 'small' });
  const { files, entries } = writeFiles({ exported: [loop, plain], format: 'promptfoo' });
  expect([files.map(({ name }) => name), reported({ entries })]).toEqual([
    ['plain.promptfoo.yaml'],
    [
      'refused prompt@2: {{#each items}}{{this}}{{/each}} has no exact equivalent in Nunjucks',
      'refused model: promptfoo has no provider for small; add one to the file',
    ],
  ]);
  const variable = storedPrompt({ name: 'h', promptText: '{{history}}', variables: [{ name: 'history' }] });
  expect(reported(writeFiles({ exported: [variable], format: 'dotprompt' }))).toEqual([
    'refused prompt: {{history}} is a helper in .prompt files; rename the variable',
  ]);
  const roles = storedPrompt({ name: 'r', promptText: '{{#each items}}{{role "user"}}{{this}}{{/each}}' });
  const conversation = storedPrompt({ name: 'c', promptText: 'a\n{{history}}' });
  expect(reported(writeFiles({ exported: [roles, conversation], format: 'promptfoo' }))).toEqual([
    'refused prompt: Roles inside of blocks have no equivalent in promptfoo',
    'refused prompt@2: {{history}} has no equivalent in promptfoo',
  ]);
});
