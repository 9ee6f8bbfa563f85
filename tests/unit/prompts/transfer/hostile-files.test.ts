import { describe, expect, test } from 'vitest';
import { importFormats } from '../../../../shared/contract/prompt-transfer.ts';
import { promptInput } from '../../../../shared/contract/prompts.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { fc } from '../../../support/fast-check.ts';
import { fixture, preview, reported } from '../../../support/prompt-transfer.ts';

const prompts = (source: ReturnType<typeof preview>) => source.prompts.map(({ prompt }) => prompt);

describe('encodings', () => {
  const text = 'Grüße an {{name}}';

  test('reads UTF-8 with and without a byte order mark', () => {
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
    expect([marked, Buffer.from(text)].map((bytes) => prompts(preview('a.txt', bytes))[0]?.promptText)).toEqual([
      text,
      text,
    ]);
  });

  test.each([
    [
      'UTF-16 with a mark',
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      'The file is encoded in UTF-16; save it as UTF-8 and import it again',
    ],
    [
      'UTF-16 without a mark',
      Buffer.from(text, 'utf16le'),
      'The file is encoded in UTF-16 or UTF-32; save it as UTF-8 and import it again',
    ],
    [
      'Latin-1',
      Buffer.from(text, 'latin1'),
      "The file isn't valid UTF-8 (it may be Latin-1 or incomplete); save it as UTF-8 and import it again",
    ],
    [
      'a picture',
      Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from([0]), Buffer.alloc(900, 0x41)]),
      "This isn't a text file",
    ],
    ['nothing', Buffer.alloc(0), 'The file is empty'],
  ])('rejects %s', (_, bytes, message) => {
    const source = preview('a.prompt', bytes);
    expect([prompts(source), reported(source)]).toEqual([[], [`refused file: ${message}`]]);
  });
});

describe('hostile YAML', () => {
  const laughs = [
    'a: &a ["lol"]',
    ...'bcdefghijk'
      .split('')
      .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefghijk'[index]}`).join(',')}]`),
  ].join('\n');
  const deepBlock = Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');

  test.each([
    ['aliases that multiply', laughs, 'The YAML has too many aliases or an undefined alias'],
    ['an alias of nothing', 'a: *b', 'The YAML has too many aliases or an undefined alias'],
    ['a list of itself', 'a: &a [*a]', 'nested more than'],
    ['deep brackets', `a: ${'['.repeat(100_000)}`, 'The file is nested more than 64 levels deep'],
    ['deep brackets on lines of their own', `a: ${'[\n'.repeat(20_000)}`, 'nested more than'],
    ['deep blocks', deepBlock, 'The file is nested more than 64 levels deep'],
    ['deep sequences', `${'- '.repeat(5000)}x`, 'nested more than'],
    ['too many characters', `a: ${'x'.repeat(1_100_000)}`, 'The YAML is longer than 400,000 characters'],
    ['a mistake', 'a: [1, 2', 'Invalid YAML'],
    ['a key given twice', 'a: 1\na: 2', 'Invalid YAML: Map keys must be unique'],
  ])('rejects %s with its reason', (_, yaml, reason) => {
    const asPrompt = preview('a.prompt', `---\n${yaml}\n---\nHello`);
    const asConfiguration = preview('a.yaml', `prompts: [x]\n${yaml}`);
    expect([prompts(asPrompt), prompts(asConfiguration)]).toEqual([[], []]);
    expect(reported(asPrompt)[0]).toContain(reason);
    expect(reported(asConfiguration)[0]).toMatch(/YAML|nested/);
  });

  test('rejects prompts that aliases make large', () => {
    const text = `x: &x ${'y'.repeat(300_000)}\nprompts: [${'*x, '.repeat(50)}]`;
    expect(reported(preview('a.yaml', text))).toEqual([
      'refused file: The prompts in this file are too large in total',
    ]);
  });

  test('a name of the prototype is an ordinary name', () => {
    const yaml =
      'name: __proto__\nconfig:\n  __proto__: {polluted: true}\ninput:\n  default: {__proto__: x, constructor: y}';
    const [prompt] = prompts(preview('a.prompt', `---\n${yaml}\n---\nHello`));
    expect([prompt?.name, prompt?.variables?.map(({ name }) => name), ({} as { polluted?: boolean }).polluted]).toEqual(
      ['__proto__', ['__proto__', 'constructor'], undefined],
    );
  });
});

describe('hostile JSON', () => {
  const deep = (open: string, depth: number) => open.repeat(depth);

  test.each([
    ['langfuse', `{"prompt": ${deep('[', 100_000)}`, 'Invalid JSON'],
    ['langfuse', `{"name":"a","prompt":"x","config":{"a":${deep('{"a":', 80)}1${'}'.repeat(82)}`, 'nested more than'],
    ['openai-jsonl', `{"messages": ${deep('[', 1000)}${']'.repeat(1000)}}`, 'nested more than'],
  ] as const)('%s: %s', (format, text, reason) => {
    const source = preview('pasted', text, { format });
    expect(prompts(source)).toEqual([]);
    expect(reported(source)[0]).toContain(reason);
  });
});

test('a file that is truncated anywhere returns a prompt or a reason, and no other failure', () => {
  const files = [
    'dotprompt/support-reply.prompt',
    'promptfoo/promptfooconfig.yaml',
    'langfuse/chat.json',
    'openai/training.jsonl',
  ];
  for (const file of files) {
    const whole = fixture(file);
    for (let end = 0; end < whole.length; end += 7) {
      const source = preview(file.split('/')[1]!, whole.subarray(0, end));
      expect(source.prompts.length + source.entries.length).toBeGreaterThan(0);
    }
  }
});

test('random bytes in any format return only prompts that can run', () => {
  const snippet = fc.constantFrom(
    '---\n',
    'name: a\n',
    'prompts:\n',
    '  - ',
    '{{',
    '}}',
    '{%',
    '%}',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '`',
    '\\',
    '&a ',
    '*a',
    '<<: ',
    'client.messages.create(',
    'responses.create(',
    'messages',
    ': ',
    '= ',
    ',',
    '#',
    'if ',
    'endif',
    'raw',
    'role "user"',
    '{"messages":[',
    '{"prompt":',
    '!!binary ',
    '? ',
    '| ',
    '> ',
    '\n',
    '\0',
    '\u{1F600}',
    '\ud800',
  );
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.oneof(snippet, fc.string({ maxLength: 4 })), { maxLength: 30 })
      .map((parts) => Buffer.from(parts.join(''))),
  );
  const format = fc.option(fc.constantFrom(...importFormats), { nil: null });
  const name = fc.constantFrom('a', 'a.prompt', 'a.yaml', 'a.json', 'a.jsonl', 'a.txt', 'a.j2', 'dir/../_a.prompt');
  fc.assert(
    fc.property(content, format, name, (bytes, chosen, file) => {
      for (const prompt of prompts(preview(file, bytes, { format: chosen }))) {
        expect([promptInput.safeParse(prompt).success, parseTemplate(prompt.promptText).problems]).toEqual([true, []]);
      }
    }),
    { numRuns: 4000 },
  );
});
