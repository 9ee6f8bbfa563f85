import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { FilePart, Message } from '../../../shared/contract/messages.ts';
import { parseTemplate, renderMessages } from '../../../shared/prompt-template.ts';

/** Tests without a meaning here, by file and name, with the reason. Everything else must pass. */
const withoutMeaning: Readonly<Record<string, string>> = {
  'metadata.yaml/metadata_state': 'Templates read the replacements of a request; there is no session state beside them',
  'metadata.yaml/metadata_context_variables':
    'Templates read the replacements of a request; there is no context beside them',
  'metadata.yaml/raw': 'Front matter belongs to files, which the import reads',
  'metadata.yaml/ext': 'Front matter belongs to files, which the import reads',
  'partials.yaml': 'There are no partials: a prompt must not change when another one is edited',
  'picoschema.yaml':
    'Schemas are JSON Schemas in `configuration.response_format`, and the import reads Picoschema as variables',
  'helpers/section.yaml': 'No provider has sections; `section` is an unknown helper',
};

interface SpecMessage {
  readonly role: string;
  readonly content: readonly {
    readonly text?: string;
    readonly media?: { readonly url: string; readonly contentType?: string };
  }[];
}

interface SpecData {
  readonly input?: Record<string, unknown>;
  readonly messages?: readonly SpecMessage[];
}

interface Suite {
  readonly name: string;
  readonly template: string;
  readonly data?: SpecData;
  readonly tests: readonly {
    readonly desc: string;
    readonly data?: SpecData;
    readonly options?: { readonly input?: { readonly default?: Record<string, unknown> } };
    readonly expect: { readonly messages: readonly SpecMessage[] };
  }[];
}

const directory = join(import.meta.dirname, '../../fixtures/dotprompt-spec');

const cases = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.yaml'))
  .toSorted()
  .flatMap((path) => {
    const file = path.replaceAll('\\', '/');
    const suites = parse(readFileSync(join(directory, path), 'utf8')) as readonly Suite[];
    return suites.flatMap(({ name, template, data, tests }) =>
      tests.map((one) => ({
        ...one,
        template,
        title: `${file}/${name}: ${one.desc}`,
        reason: withoutMeaning[file] ?? withoutMeaning[`${file}/${name}`] ?? null,
        data: { ...data, ...one.data },
      })),
    );
  });

/** A message of the specification in our form. */
function messageOf({ role, content }: SpecMessage): Message {
  return {
    role: role === 'model' ? 'assistant' : (role as Message['role']),
    content: content.map(({ text, media }) =>
      media ? fileOf(media.url, media.contentType) : { type: 'text', text: text ?? '' },
    ),
  };
}

function fileOf(url: string, contentType: string | null | undefined): FilePart {
  return { type: 'file', fileId: url, mediaType: contentType ?? '', name: '', bytes: 0 };
}

test.each(cases.filter(({ reason }) => reason === null))('$title', ({ template, data, options, expect: expected }) => {
  const { messages } = renderMessages(
    parseTemplate(template),
    { ...options?.input?.default, ...data.input },
    {
      history: (data.messages ?? []).map(messageOf),
      filesOf: (value, contentType) => [fileOf(value as string, contentType as string | null)],
    },
  );
  expect(messages).toEqual(expected.messages.map(messageOf));
});

test("counts the tests that don't apply here", () => {
  const skipped = cases.filter(({ reason }) => reason !== null);
  expect([cases.length, cases.length - skipped.length, skipped.length]).toEqual([117, 82, 35]);
  for (const name of Object.keys(withoutMeaning)) {
    expect(
      skipped.some(({ title }) => title.startsWith(name)),
      name,
    ).toBe(true);
  }
});
