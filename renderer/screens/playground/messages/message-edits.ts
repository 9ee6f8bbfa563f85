import { roleTitles } from '../../../components/sent-messages.ts';
import type { PromptRole } from '../../../../shared/prompt-messages.ts';
import type { EditedBlock, PromptBlock, PromptDocument } from './prompt-document.ts';

export const promptRoles = ['system', 'user', 'assistant'] as const satisfies readonly PromptRole[];

/** What a message is called: its number and its role. */
export function messageName(index: number, role: PromptRole): string {
  return `Message ${index + 1}, ${roleTitles[role]}`;
}

/** Whether the template sets roles. Otherwise it is one user message without a tag. */
export function hasRoles(blocks: readonly PromptBlock[] | null): boolean {
  return blocks === null || blocks.length > 1 || blocks[0]?.opening !== '';
}

/** Whether a message is one of a pair that shows the model what to answer: a user message and the assistant's answer to it. */
export function isExample(blocks: readonly Pick<PromptBlock, 'role'>[], index: number): boolean {
  const isPair = (at: number) => blocks[at]?.role === 'user' && blocks[at + 1]?.role === 'assistant';
  return isPair(index) || isPair(index - 1);
}

function indexOf(blocks: readonly PromptBlock[], id: number): number {
  return blocks.findIndex((block) => block.id === id);
}

/** Writes blocks; a single user message needs no tag. */
function write(document: PromptDocument, blocks: readonly EditedBlock[], focusIndex: number): void {
  const [only] = blocks;
  const isPlain = blocks.length === 1 && only?.role === 'user';
  document.setBlocks(isPlain ? [{ ...only, opening: '' }] : blocks, focusIndex);
}

/** Adds an empty message after another one, or at the end. A user message answers every message but a user message. */
export function addMessage(document: PromptDocument, afterId: number | null = null): void {
  const blocks = document.blocks ?? [];
  const found = afterId === null ? -1 : indexOf(blocks, afterId);
  const index = found === -1 ? blocks.length : found + 1;
  const role = blocks[index - 1]?.role === 'user' ? 'assistant' : 'user';
  write(document, blocks.toSpliced(index, 0, { role, text: '' } as PromptBlock), index);
}

/** Adds a user message and an answer to it before the last user message, which is the one to answer. */
export function addExamplePair(document: PromptDocument): void {
  const blocks = document.blocks ?? [];
  const last = blocks.at(-1)?.role === 'user' ? blocks.length - 1 : blocks.length;
  const pair: EditedBlock[] = [
    { role: 'user', text: '' },
    { role: 'assistant', text: '' },
  ];
  write(document, [...blocks.slice(0, last), ...pair, ...blocks.slice(last)], last);
}

/** Moves a message to another position, counted without it. */
export function moveMessage(document: PromptDocument, id: number, to: number): void {
  const blocks = document.blocks ?? [];
  const from = indexOf(blocks, id);
  const moved = blocks[from];
  if (!moved || to === from || to < 0 || to >= blocks.length) return;
  write(document, blocks.toSpliced(from, 1).toSpliced(to, 0, moved), to);
}

export function removeMessage(document: PromptDocument, id: number): void {
  const blocks = document.blocks ?? [];
  const index = indexOf(blocks, id);
  if (index === -1) return;
  const rest = blocks.toSpliced(index, 1);
  const empty: EditedBlock = { role: 'user', text: '' };
  write(document, rest.length === 0 ? [empty] : rest, Math.max(0, index - 1));
}

export function changeRole(document: PromptDocument, id: number, role: PromptRole): void {
  const blocks = document.blocks ?? [];
  const index = indexOf(blocks, id);
  const block = blocks[index];
  if (!block || block.role === role) return;
  const { opening: _, ...rest } = block;
  document.setBlocks([...blocks.slice(0, index), { ...rest, role }, ...blocks.slice(index + 1)], index);
}
