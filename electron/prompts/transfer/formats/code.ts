import { createLineFinder } from '../../../../shared/prompt-template-variables.ts';
import { isMap, textIn, type ReadMap } from '../bounded-values.ts';
import { baseName, emptyDraft, note, type Draft, type Reader } from '../draft.ts';
import { Refusal } from '../refusal.ts';
import { Computed, LiteralReader } from './code-literals.ts';
import { takeBody } from './openai-jsonl.ts';

/** Calls of OpenAI's and Anthropic's libraries that hold a prompt. */
const openAiCall = /\b(?:responses|chat\.completions|completions)\.(?:create|stream|parse)\(/g;
const anthropicCall = /\bmessages\.(?:create|stream)\(/g;

export function isOpenAiCode(text: string): boolean {
  return text.search(openAiCall) !== -1;
}

export function isAnthropicCode(text: string): boolean {
  return text.search(anthropicCall) !== -1;
}

/** The same without what the code works out, which is told. */
function fixedValues(value: unknown, found: Computed[]): unknown {
  if (Array.isArray(value)) return value.map((item) => fixedValues(item, found));
  if (value instanceof Computed) {
    found.push(value);
    return null;
  }
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, fixedValues(item, found)])) : value;
}

const texts = new Set(['messages', 'input', 'instructions', 'system', 'prompt']);

function fixedBody(draft: Draft, body: ReadMap, line: number): ReadMap {
  const kept = new Map<string, unknown>();
  for (const [key, value] of body) {
    const found: Computed[] = [];
    const fixed = fixedValues(value, found);
    const [first] = found;
    if (first === undefined) kept.set(key, fixed);
    else if (texts.has(key)) {
      const source = first.source.length > 60 ? `${first.source.slice(0, 60)}…` : first.source;
      draft.refusal ??= { message: `The code computes its text: ${source}`, line };
    } else note(draft, 'refused', key, 'The code computes this value', line);
  }
  return kept;
}

/** OpenAI keeps prompts under an id, and code then has the id alone. */
function refusePromptObject(draft: Draft, body: ReadMap, line: number): void {
  const stored = body.get('prompt');
  const id = isMap(stored) ? textIn(stored, 'id') : null;
  if (id === null) return;
  const message = `The code refers to prompt ${id.slice(0, 100)}, which OpenAI stores; copy its text from OpenAI`;
  draft.refusal ??= { message, line };
}

function readCalls(call: RegExp, system: 'OpenAi' | 'Anthropic'): Reader {
  return (text, { name }) => {
    const calls = [...text.matchAll(call)].slice(0, 1000);
    if (calls.length === 0) throw new Refusal(`No ${system === 'OpenAi' ? 'OpenAI' : 'Anthropic'} call found`);
    const positionOf = createLineFinder(text);
    return calls.map((match, index) => {
      const { line } = positionOf(match.index);
      const draft = emptyDraft(calls.length === 1 ? baseName(name) : `${baseName(name)} ${index + 1}`);
      const body = fixedBody(draft, new LiteralReader(text, match.index + match[0].length).arguments(), line);
      refusePromptObject(draft, body, line);
      takeBody(draft, new Map([...body].filter(([key]) => key !== 'prompt')), line);
      if (draft.model !== null) draft.model = { aiSystem: system, model: draft.model.model };
      return draft;
    });
  };
}

/** Code with calls of OpenAI's library, in Python or TypeScript. */
export const readOpenAiCode = readCalls(openAiCall, 'OpenAi');

/** What Anthropic's Workbench gives as code. */
export const readAnthropicCode = readCalls(anthropicCall, 'Anthropic');
