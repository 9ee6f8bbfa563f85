import { expect, test } from 'vitest';
import type { PreviewedSource } from '../../../../shared/contract/prompt-transfer.ts';
import { previewTogether, reported } from '../../../support/prompt-transfer.ts';

const texts = ({ prompts }: PreviewedSource) =>
  prompts.map(({ prompt: { name, promptText, systemMessage } }) => [
    name,
    promptText,
    ...(systemMessage ? [systemMessage] : []),
  ]);

const config = (...prompts: string[]) => `prompts:\n${prompts.map((prompt) => `  - ${prompt}`).join('\n')}\n`;

test("prompts are read from the files of a configuration, which aren't separate prompts then", async () => {
  const [suite, ...others] = await previewTogether({
    'tests/promptfooconfig.yaml': config(
      'file://../prompts/two.txt',
      '../prompts/chat.json',
      'file://../prompts/chat.yaml',
      'file://lines.jsonl',
      'file://table.csv',
      '{id: file://../prompts/note.md, label: memo}',
      'Plain {{text}}',
    ),
    'prompts/two.txt': 'One {{a}}\n\n---\nTwo\n',
    'prompts/chat.json': '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi {{name}}"}]',
    'prompts/chat.yaml': '- role: user\n  content: Dear {{ name }}\n',
    'tests/lines.jsonl': '[{"role": "user", "content": "L1"}]\n[{"role": "user", "content": "L2"}]\n',
    'tests/table.csv': 'prompt,label\n"Say, {{x}}",say\n',
    'prompts/note.md': '# Note\n{{body}}\n',
    'prompts/other.txt': 'Stays',
  });
  expect(texts(suite!)).toEqual([
    ['two 1', 'One {{a}}'],
    ['two 2', 'Two'],
    ['chat', 'Hi {{name}}', 'Be brief.'],
    ['chat', 'Dear {{name}}'],
    ['lines 1', 'L1'],
    ['lines 2', 'L2'],
    ['say', 'Say, {{x}}'],
    ['memo', '# Note\n{{body}}'],
    ['promptfooconfig 7', 'Plain {{text}}'],
  ]);
  expect(suite!.entries).toEqual([]);
  expect(others.map((source) => [source.name, texts(source).length, reported(source)])).toEqual([
    ...[
      'prompts/two.txt',
      'prompts/chat.json',
      'prompts/chat.yaml',
      'tests/lines.jsonl',
      'tests/table.csv',
      'prompts/note.md',
    ].map((name) => [name, 0, ['taken file: Used by tests/promptfooconfig.yaml']]),
    ['prompts/other.txt', 1, []],
  ]);
});

test('a configuration in JSON is recognised by its name or its fields', async () => {
  const suite = JSON.stringify({ prompts: ['Hello {{name}}'], providers: ['openai:gpt-4.1'] });
  const langfuse = JSON.stringify({ name: 'P', prompt: 'Hi', config: { prompts: [] } });
  const sources = await previewTogether({
    'a/promptfooconfig.json': suite,
    'suite.json': suite,
    'langfuse.json': langfuse,
  });
  expect(sources.map(({ format, prompts }) => [format, prompts[0]?.prompt.promptText])).toEqual([
    ['promptfoo', 'Hello {{name}}'],
    ['promptfoo', 'Hello {{name}}'],
    ['langfuse', 'Hi'],
  ]);
});

test('patterns find files, and a file in another place is found by its name if no other has it', async () => {
  const [suite] = await previewTogether({
    'promptfooconfig.yaml': config(
      'prompts/*.txt',
      'file://deep/**/*.{md,j2}',
      'file://moved/c.txt',
      'file://moved/same.txt',
    ),
    'prompts/a.txt': 'A',
    'prompts/b.txt': 'B',
    'deep/x/y/d.md': 'D',
    'deep/e.j2': 'E',
    'c.txt': 'C',
    'one/same.txt': '1',
    'two/same.txt': '2',
  });
  expect(texts(suite!)).toEqual([
    ['a', 'A'],
    ['b', 'B'],
    ['d', 'D'],
    ['e', 'E'],
    ['c', 'C'],
  ]);
  expect(reported(suite!)).toEqual([
    "refused prompt@5: promptfooconfig 4: moved/same.txt isn't among the imported files; add it, or import the whole folder",
  ]);
});

test("explains what it can't open", async () => {
  const [suite] = await previewTogether({
    'a.yaml': config(
      'langfuse://greeting:3:text',
      'portkey://p1',
      'https://example.com/prompt.txt',
      'file://prompt.py:create',
      'exec:./prompt.sh',
      'file://gone/away.txt',
      'file://bad.txt',
    ),
    'bad.txt': 'a\n{% for x in y %}{% endfor %}',
  });
  expect(reported(suite!).map((entry) => entry.replace(/^refused prompt/, ''))).toEqual([
    '@2: a 1: langfuse://greeting:3:text is a prompt stored in Langfuse, not a file; to import it, export it from Langfuse as JSON and import that file',
    '@3: a 2: portkey://p1 is a prompt stored in Portkey, not a file; to import it, copy its text',
    '@4: a 3: https://example.com/prompt.txt is a web address, which an import never opens; download it and add the file',
    '@5: a 4: prompt.py:create is code, which an import never runs; add the prompt as text',
    '@6: a 5: exec:./prompt.sh is code, which an import never runs; add the prompt as text',
    "@7: a 6: gone/away.txt isn't among the imported files; add it, or import the whole folder",
    "@2: bad.txt: {% for x in y %} isn't a plain variable such as {{ name }}",
  ]);
});

test('tests, variables, values and a provider are read from files; each prompt gets only the variables that it uses', async () => {
  const [suite] = await previewTogether({
    'a.yaml': [
      config('"{{ city }} {{ customer.name }}"', '"{{ article }}"', '"No variables"'),
      'providers: [file://provider.yaml]',
      'defaultTest: file://default.yaml',
      'tests: [file://tests.csv, file://more.json, {vars: {article: file://texts/article.txt, unused: file://gone.txt}}]',
    ].join('\n'),
    'provider.yaml': 'id: openai:chat:gpt-4.1\nconfig: {temperature: 0.5}\n',
    'default.yaml': 'vars: {city: Paris}\n',
    'tests.csv': 'city,__expected\nRome,contains:x\n',
    'more.json': '[{"vars": {"customer": {"name": "Mara", "age": 4}}}]',
    'texts/article.txt': 'A long text\n',
  });
  const given = suite!.prompts.map(({ prompt: { model, configuration, variables } }) => ({
    model,
    configuration,
    variables,
  }));
  const settings = { model: 'gpt-4.1', configuration: { temperature: 0.5 } };
  expect(given).toEqual([
    {
      ...settings,
      variables: [
        { name: 'city', defaultValue: 'Paris', sampleValue: 'Rome' },
        { name: 'customer.name', sampleValue: 'Mara' },
      ],
    },
    { ...settings, variables: [{ name: 'article', sampleValue: 'A long text' }] },
    { ...settings, variables: [] },
  ]);
  expect(reported(suite!.prompts[0]!)).toEqual(
    expect.arrayContaining([
      "refused tests@8: gone.txt isn't among the imported files; add it, or import the whole folder",
      "refused tests@8: Prompts can't contain assertions",
    ]),
  );
});

test("a value that is too long is left out with its reason, and shared values can't make prompts large", async () => {
  const tests = 'tests:\n  - vars: {v0: file://0.txt}\n';
  const [suite] = await previewTogether({
    'a.yaml': `${config('"{{ v0 }}"')}${tests}`,
    '0.txt': 'x'.repeat(100_001),
  });
  expect(reported(suite!.prompts[0]!)).toContain('refused tests@4: The value of v0 is longer than 100,000 characters');
  const [large] = await previewTogether({
    'a.yaml': `${config(...Array.from({ length: 200 }, () => '"{{ v0 }}"'))}${tests}`,
    '0.txt': 'x'.repeat(99_000),
  });
  expect([large!.prompts.length, reported(large!)]).toEqual([
    0,
    ['refused file: The prompts in this file are too large in total'],
  ]);
});

test('circular references between files and slow patterns end', async () => {
  const [circle] = await previewTogether({
    'a.yaml': `${config('x')}tests: [file://b.yaml]\n`,
    'b.yaml': '- vars: file://b.yaml\n- vars: file://a.yaml\n',
  });
  expect(texts(circle!)).toEqual([['a', 'x']]);
  const pattern = `${'*a'.repeat(200)}b`;
  const [slow] = await previewTogether({
    'a.yaml': config(`"file://${pattern}.txt"`, `"file://${'**/'.repeat(100)}x.txt"`),
    [`${'a/'.repeat(200)}${'a'.repeat(500)}.txt`]: 'A',
  });
  expect(slow!.prompts).toEqual([]);
});
