import { Dotprompt } from 'dotprompt';
import { describe, expect, test } from 'vitest';
import { editPromptFile } from '../../../../electron/prompts/folder/edit-prompt-file.ts';
import { plainLines } from '../../../../electron/prompts/transfer/source-text.ts';
import { promptContent, type PromptContent } from '../../../../shared/prompt-content.ts';
import { fixture, preview } from '../../../support/prompt-transfer.ts';

const name = 'support/reply.prompt';

function contentIn(text: string): PromptContent {
  const [found] = preview(name, plainLines(text), { format: 'dotprompt' }).prompts;
  return promptContent(found!.prompt);
}

/** The file after a change of the prompt that it holds. */
function edited(text: string, change: (content: PromptContent) => Partial<PromptContent>) {
  const current = contentIn(text);
  return editPromptFile({ name, text, current, target: { ...current, ...change(current) } });
}

const carefully = `---
# Written by the support team
model: googleai/gemini-2.5-flash   # the small one
custom.owner: "Ada"     # keep

config:
    temperature:   0.30 # warm
    topP: 0.9
    safetySettings:
    - category: 'HARM'
tools: [ lookup,  other ]
input:
  schema:
    customer: string, who wrote
    tone?(enum): [friendly, formal]
  default:
    tone: friendly
# the end
---
{{role "system"}}
You are   brief.

{{role "user"}}
{{customer}} asks.  Answer in a {{tone}} tone.
`;

test("a file with the target's content stays unchanged, to the byte", () => {
  for (const text of [carefully, carefully.replaceAll('\n', '\r\n'), `\uFEFF${carefully}`]) {
    expect(edited(text, () => ({}))).toEqual({ text, problem: null });
  }
});

test('a new text changes only its own lines', () => {
  const { text } = edited(carefully, () => ({ promptText: '{{customer}} asks. Answer at once, in a {{tone}} tone.' }));
  expect(text).toBe(carefully.replace('asks.  Answer in', 'asks. Answer at once, in'));
});

test('a new system message changes only its own lines', () => {
  const { text } = edited(carefully, () => ({ systemMessage: 'You are long-winded.' }));
  expect(text).toBe(carefully.replace('You are   brief.', 'You are long-winded.'));
});

test("a setting changes under the file's name for it, and comments stay", () => {
  const { text } = edited(carefully, ({ configuration }) => ({
    configuration: { ...configuration, temperature: 0.7, top_p: 0.5, seed: 4 },
  }));
  expect(text).toContain(
    "    temperature:   0.70 # warm\n    topP: 0.5\n    safetySettings:\n    - category: 'HARM'\n    seed: 4\n",
  );
  expect(text).toContain(
    'model: googleai/gemini-2.5-flash   # the small one\ncustom.owner: "Ada"     # keep\n\nconfig:',
  );
  expect(text).toContain('tools: [ lookup,  other ]\n');
});

test('adds name, description, tags and model if the file has none', () => {
  const { text } = edited(carefully, () => ({
    name: 'Reply',
    description: 'For: customers',
    tags: ['mail', 'yes'],
    aiSystem: 'OpenAi',
    model: 'gpt-4o',
  }));
  expect(text).toContain(
    '# Written by the support team\nmodel: openai/gpt-4o   # the small one\ncustom.owner: "Ada"     # keep\n',
  );
  expect(text).toContain(
    '\nname: Reply\ndescription: "For: customers"\ntouchstone.tags:\n  - mail\n  - yes\n# the end\n---\n',
  );
});

test('variables change in the form of the schema', () => {
  const { text } = edited(carefully, ({ variables }) => ({
    variables: [
      { ...variables[0]!, description: 'the person', defaultValue: 'Ada' },
      { ...variables[1]!, description: 'how it sounds', sampleValue: 'formal' },
      { name: 'length', description: null, defaultValue: null, sampleValue: null },
    ],
  }));
  expect(text).toContain('customer: string, the person\n');
  expect(text).toContain('tone?(enum, how it sounds): [friendly, formal]\n');
  expect(text).toContain('    length: string\n  default:\n    tone: friendly\n    customer: Ada\n');
  expect(text).toContain('touchstone.samples:\n  tone: formal\n');
});

test('a removed variable leaves the schema and its default', () => {
  const { text } = edited(carefully, ({ variables }) => ({ variables: variables.slice(0, 1) }));
  expect(text).toContain('input:\n  schema:\n    customer: string, who wrote\n# the end\n---\n');
});

test('a file without front matter gets only the needed fields', () => {
  expect(edited('Hello {{name}}\n', () => ({ promptText: 'Hi {{name}}' })).text).toBe('Hi {{name}}\n');
  expect(edited('Hello {{name}}\n', () => ({ tags: ['a'] })).text).toBe(
    '---\ntouchstone.tags:\n  - a\n---\nHello {{name}}\n',
  );
});

test('keeps the endings of unchanged lines in a file with both', () => {
  const mixed = carefully
    .split('\n')
    .map((line, index) => (index % 2 === 0 ? `${line}\r` : line))
    .join('\n')
    .replace(/\r$/, '');
  expect(edited(mixed, () => ({})).text).toBe(mixed);
  const { text } = edited(mixed, () => ({ systemMessage: 'You are long-winded.' }));
  expect(text).toBe(mixed.replace(/You are {3}brief\.\r?\n/, 'You are long-winded.\n'));
});

test("keeps the file's line endings", () => {
  const { text } = edited(carefully.replaceAll('\n', '\r\n'), () => ({ promptText: 'One\nTwo' }));
  expect(text).toMatch(/\{\{role "user"\}\}\r\nOne\r\nTwo\r\n$/);
  expect(text!.replaceAll('\r\n', '').includes('\n')).toBe(false);
});

test('keeps roles and history unchanged', () => {
  const text = '{{role "system"}}Be brief.{{history}}{{role "user"}}Hello {{name}}';
  expect(edited(text, () => ({ tags: ['a'] })).text).toContain(text);
  const change = () => ({ promptText: text.replace('Hello', 'Bye') });
  expect(edited(text, change)).toEqual({ text: text.replace('Hello', 'Bye'), problem: null });
});

test("rejects what a file can't express, and never returns a text with another meaning", () => {
  expect(edited(carefully, () => ({ promptText: 'With \0 in it' })).problem).not.toBeNull();
  for (const promptText of [
    '  ends with spaces  ',
    '{{!}}\nx',
    '---\nname: y\n---\nz',
    '{{role}}',
    'a\n\n\nb\'"#: - x',
  ]) {
    const { text, problem } = edited(carefully, () => ({ promptText }));
    if (problem === null) expect(contentIn(text!).promptText).toBe(promptText);
    else expect(promptText).toBe('{{role}}');
  }
});

describe('published formats of files', () => {
  test.each(['support-reply', 'extract', 'few-shot', 'helpers', 'no-front-matter'])('%s', (file) => {
    const text = fixture(`dotprompt/${file}.prompt`).toString();
    const [found] = preview(name, text, { format: 'dotprompt' }).prompts;
    if (found === undefined) return;
    expect(edited(text, () => ({})).text).toBe(text);
    const { text: changed, problem } = edited(text, () => ({ description: 'Another one' }));
    expect(problem).toBeNull();
    expect(contentIn(changed!)).toEqual({ ...contentIn(text), description: 'Another one' });
    // The package that defines the format reads the same as before, but for what was changed.
    const parsed = (source: string) => {
      // White space around the template is cut off only where there is front matter.
      const { raw: _, template, ...fields } = new Dotprompt().parse(source);
      return { ...fields, template: template.trim() };
    };
    const [before, after] = [parsed(text), parsed(changed!)];
    expect(after).toEqual({ ...before, description: 'Another one' });
  });
});

test('a new file contains everything', () => {
  const expected = contentIn(carefully);
  const { text } = editPromptFile({ name, text: null, current: null, target: expected });
  expect(contentIn(text!)).toEqual({ ...expected, name: 'reply' });
});
