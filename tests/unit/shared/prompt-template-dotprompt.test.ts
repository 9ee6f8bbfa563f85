// @module-tag slow
import { parse } from '@handlebars/parser';
import { Dotprompt } from 'dotprompt';
import { expect, test } from 'vitest';
import { type FilePart, type Message, textMessage, textOfMessage } from '../../../shared/contract/messages.ts';
import { parseTemplate, renderMessages } from '../../../shared/prompt-template.ts';
import { fc } from '../../support/fast-check.ts';
import { createHandlebars } from '../../support/handlebars-peer.ts';
import { replacements, template } from '../../support/template-generator.ts';

interface TheirMessage {
  readonly role: string;
  readonly content: readonly {
    readonly text?: string;
    readonly media?: { readonly url: string; readonly contentType?: string };
  }[];
}

/** The `dotprompt` package on the Handlebars that the other tests compare with. */
function createPeer() {
  const peer = new Dotprompt() as unknown as {
    handlebars: ReturnType<typeof createHandlebars>;
    compile(source: object): Promise<(data: object) => Promise<{ messages: TheirMessage[] }>>;
  };
  const handlebars = createHandlebars();
  for (const name of ['role', 'history', 'media', 'section', 'json', 'ifEquals', 'unlessEquals'])
    handlebars.registerHelper(name, peer.handlebars.helpers[name]!);
  peer.handlebars = handlebars;
  return peer;
}

const peer = createPeer();

function fileOf(url: unknown, contentType: unknown): FilePart | null {
  if (typeof url !== 'string') return null;
  return {
    type: 'file',
    fileId: url,
    mediaType: typeof contentType === 'string' ? contentType : '',
    name: '',
    bytes: 0,
  };
}

async function renderWithDotprompt(text: string, input: object, history: readonly Message[]): Promise<Message[]> {
  const source = /else\s+if/.test(text) ? parse(text) : text;
  const render = await peer.compile({ template: source });
  const messages = history.map((message) => ({
    role: message.role === 'assistant' ? 'model' : message.role,
    content: [{ text: textOfMessage(message) }],
  }));
  const rendered = await render({ input, messages });
  return rendered.messages.map(({ role, content }) => ({
    role: role === 'model' ? 'assistant' : (role as Message['role']),
    content: content.map(({ text: one, media }) =>
      media ? fileOf(media.url, media.contentType)! : { type: 'text', text: one! },
    ),
  }));
}

/** A blank text without roles is a message here, as it has always been; dotprompt has no message then. */
function withoutBlank(messages: readonly Message[]): Message[] {
  return messages.filter(({ content }) => content.some((part) => part.type !== 'text' || part.text.trim() !== ''));
}

const strip = fc.constantFrom('', '', '', '~');
const role = fc.constantFrom('"system"', '"user"', "'model'", '"assistant"');
const helper = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: role.map((word) => `role ${word}`) },
      { weight: 1, arbitrary: fc.constant('history') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          'media url="http://a/b"',
          'media url="c" contentType="image/png"',
          'media url=@root.photo',
        ),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('json this', 'json this indent=2', 'json "a<b"', 'json @root.photo indent=1'),
      },
    ),
    strip,
    strip,
  )
  .map(([inner, before, after]) => `{{${before}${inner}${after}}}`);

const conversation: fc.Arbitrary<string> = fc.letrec<{ body: string; block: string }>((tie) => ({
  body: fc
    .array(
      fc.oneof(
        { depthSize: 'small' },
        { weight: 2, arbitrary: template },
        {
          weight: 6,
          arbitrary: fc.tuple(helper, fc.constantFrom('', ' ', 'text', '\n{{a}} b\n')).map((parts) => parts.join('')),
        },
        { weight: 1, arbitrary: tie('block') },
      ),
      { maxLength: 7 },
    )
    .map((parts) => parts.join('')),
  block: fc
    .tuple(
      fc.constantFrom(
        ['#each items', '/each'],
        ['#if a', '/if'],
        ['#with user', '/with'],
        ['#ifEquals a b', '/ifEquals'],
        ['#unlessEquals a "text"', '/unlessEquals'],
      ),
      tie('body'),
      fc.option(tie('body')),
    )
    .map(
      ([[open, close], body, otherwise]) =>
        `{{${open}}}${body}${otherwise === null ? '' : `{{else}}${otherwise}`}{{${close}}}`,
    ),
})).body;

const history = fc.array(
  fc
    .tuple(fc.constantFrom('user' as const, 'assistant' as const), fc.constantFrom('Hi', 'How are you?', ' x '))
    .map(([one, text]) => textMessage(one, text)),
  { maxLength: 3 },
);

async function outcome(render: () => Message[] | Promise<Message[]>): Promise<Message[] | 'rejected'> {
  try {
    return await render();
  } catch {
    return 'rejected';
  }
}

test('renders generated conversations like dotprompt itself', async () => {
  let several = 0;
  await fc.assert(
    fc.asyncProperty(conversation, replacements, history, async (text, values, earlier) => {
      const data = { ...values, photo: 'data:1' };
      const ours = await outcome(() =>
        withoutBlank(
          renderMessages(parseTemplate(text), data, {
            history: earlier,
            filesOf: (url, contentType) => {
              const file = fileOf(url, contentType);
              return file && [file];
            },
          }).messages,
        ),
      );
      const theirs = await outcome(() => renderWithDotprompt(text, data, earlier));
      if (ours !== 'rejected' && ours.length > earlier.length + 1) several++;
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 400, endOnFailure: true },
  );
  // About 92 of 400, with a standard deviation of 8.
  expect(several).toBeGreaterThan(30);
});
