import type { MessageRole } from './contract/messages.ts';
import { scanTags, type TemplateTag } from './prompt-template-tags.ts';

/**
 * The messages of a template as blocks, for an editor and for files that list messages. Also reads invalid templates, because a
 * template is often invalid while a person types.
 */

export type PromptRole = Exclude<MessageRole, 'tool'>;

export interface MessageBlock {
  readonly role: PromptRole;
  /** The role tag with the white space around it that isn't sent. Empty for a first user message without a tag. */
  readonly opening: string;
  /** The template of the message. */
  readonly text: string;
  /** Offsets of opening and text in the whole template. */
  readonly start: number;
  readonly end: number;
}

/** A block to write. A new one has no opening, and one whose role has changed gets a new opening. */
export type WrittenBlock = Pick<MessageBlock, 'role' | 'text'> & { readonly opening?: string };

/** dotprompt calls the assistant `model`; both words are accepted. */
const roleNames: Readonly<Record<string, PromptRole>> = {
  system: 'system',
  user: 'user',
  model: 'assistant',
  assistant: 'assistant',
};

/** The role of a word in `{{role "…"}}`; null for an unknown one. */
export function roleNamed(word: string): PromptRole | null {
  return Object.hasOwn(roleNames, word) ? roleNames[word]! : null;
}

const roleTag = /^\{\{(~?)[{&]?\s*role\s+(?:"([a-z]+)"|'([a-z]+)')\s*\}?(~?)\}\}$/;
/** Longer than any role tag that is not mostly white space. */
const maxTagCharacters = 1000;

interface RoleTag {
  readonly role: PromptRole;
  /** Whether it removes the white space before and after it. */
  readonly stripsBefore: boolean;
  readonly stripsAfter: boolean;
}

function readRoleTag(written: string): RoleTag | null {
  const [, before, double, single, after] = roleTag.exec(written) ?? [];
  const role = roleNamed(double ?? single ?? '');
  return role && { role, stripsBefore: before === '~', stripsAfter: after === '~' };
}

function roleTagAt(text: string, tag: TemplateTag): RoleTag | null {
  if (tag.kind !== 'value' || tag.name !== 'role' || tag.end - tag.start > maxTagCharacters) return null;
  // A third brace makes it an invalid tag.
  return text[tag.end] === '}' ? null : readRoleTag(text.slice(tag.start, tag.end));
}

/**
 * The messages of a template in order; `joinMessages` restores exactly the same template. A template without roles is one user
 * message. Null if a role is set inside a block such as `{{#each}}`: its messages are known only when it is rendered.
 */
export function splitMessages(template: string): MessageBlock[] | null {
  const blocks: MessageBlock[] = [];
  let opening = { role: 'user' as PromptRole, start: 0, end: 0 };
  let depth = 0;
  const close = (end: number) =>
    blocks.push({
      role: opening.role,
      opening: template.slice(opening.start, opening.end),
      text: template.slice(opening.end, end),
      start: opening.start,
      end,
    });
  for (const tag of scanTags(template)) {
    if (tag.kind === 'open' || tag.kind === 'raw-open') depth++;
    else if (tag.kind === 'close' || tag.kind === 'raw-close') depth = Math.max(0, depth - 1);
    const found = roleTagAt(template, tag);
    if (!found) continue;
    if (depth > 0) return null;
    let start = found.stripsBefore ? endOfText(template, opening.end, tag.start) : tag.start;
    // White space before the first role makes no message.
    if (blocks.length === 0 && opening.end === 0 && endOfText(template, 0, tag.start) === 0) start = 0;
    else close(start);
    opening = { role: found.role, start, end: found.stripsAfter ? startOfText(template, tag.end) : tag.end };
  }
  close(template.length);
  return blocks;
}

/** The end of `template.slice(from, to)` without its trailing white space. */
function endOfText(template: string, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(template[end - 1])) end--;
  return end;
}

function startOfText(template: string, from: number): number {
  let start = from;
  while (start < template.length && isSpace(template[start])) start++;
  return start;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

/** The blocks with the openings of their template. Blocks from `splitMessages` keep their tags unchanged. */
export function layOutMessages(blocks: readonly WrittenBlock[]): Pick<MessageBlock, 'role' | 'opening' | 'text'>[] {
  let before: string | null = null;
  return blocks.map((block) => {
    const { role, text } = block;
    const opening = openingOf(block, before, blocks.length === 1);
    before = text;
    return { role, opening, text };
  });
}

/** The template of messages. */
export function joinMessages(blocks: readonly WrittenBlock[]): string {
  return layOutMessages(blocks)
    .map(({ opening, text }) => opening + text)
    .join('');
}

/** `before` is the text of the previous message, null for the first message. */
function openingOf({ role, opening = '', text }: WrittenBlock, before: string | null, isOnly: boolean): string {
  // Without a tag, a blank first message would be white space before the next role.
  if (opening === '' && before === null && role === 'user' && (isOnly || text.trim() !== '')) return '';
  const tag = readRoleTag(opening.trim());
  if (tag?.role === role && isExact(tag, opening, before, text)) return opening;
  const left = before === null || isSpace(before.at(-1)) ? '{{' : '\n{{~';
  const right = isSpace(text[0]) ? '}}' : '~}}\n';
  return `${left}role "${role === 'assistant' ? 'model' : role}"${right}`;
}

const escapedBraces = /(?:^|[^\\])\\\{\{$/;

/** Whether an opening leaves the texts around it unchanged. */
function isExact(tag: RoleTag, opening: string, before: string | null, text: string): boolean {
  if (tag.stripsAfter && isSpace(text[0])) return false;
  if (text.startsWith('}') && !isSpace(opening.at(-1))) return false;
  if (before === null) return true;
  if (tag.stripsBefore && isSpace(before.at(-1))) return false;
  if (isSpace(opening[0])) return tag.stripsBefore;
  // Otherwise a backslash or a brace would become part of the tag. Escaped braces can't.
  return escapedBraces.test(before.slice(-4)) || !/(?:^|[^\\])\\$|\{$/.test(before.slice(-2));
}
