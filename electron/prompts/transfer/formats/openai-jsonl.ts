import { aiSystem } from '../../../../shared/contract/common.ts';
import { maxTransferredPrompts } from '../../../../shared/contract/prompt-transfer.ts';
import { isMap, listIn, mapIn, plain, readJson, type ReadMap, textIn } from '../bounded-values.ts';
import { baseName, describeVariable, type Draft, emptyDraft, note, type Reader, roleOf } from '../draft.ts';
import { TransferError } from '../source-text.ts';
import { settingRejection, takeParameters } from '../parameter-names.ts';
import { literalTemplate } from '../templates/template-syntax.ts';

/** Text of a message, also in parts; null if a part isn't text. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts = content.map((part: unknown) =>
    isMap(part) ? textIn(part, 'text') : typeof part === 'string' ? part : null,
  );
  return parts.includes(null) ? null : parts.join('');
}

/** Reads messages in the formats of OpenAI, Anthropic, promptfoo and Langfuse. Rejects a prompt with other content than text. */
export function takeMessages(draft: Draft, messages: readonly unknown[], line: number | null): void {
  for (const message of messages) {
    if (typeof message === 'string') draft.messages.push({ role: 'user', text: message, line });
    else if (!isMap(message)) draft.rejection ??= { message: "A message isn't an object", line };
    else if (textIn(message, 'type') === 'placeholder') {
      note(
        draft,
        'refused',
        'messages',
        `Placeholder ${textIn(message, 'name') ?? ''} for earlier messages is skipped`,
        line,
      );
    } else {
      const text = contentText(message.get('content'));
      const hasTools = (listIn(message, 'tool_calls') ?? []).length > 0;
      if (text === null || hasTools) {
        draft.rejection ??= { message: 'A message contains an image, a file or a tool call', line };
      } else draft.messages.push({ role: roleOf(message.get('role')), text, line });
    }
  }
}

/** Fields of our own lines beyond the format. */
function takeExtension(draft: Draft, extension: ReadMap | null): void {
  if (extension === null) return;
  draft.style = 'handlebars';
  draft.messages = draft.messages.map((message) =>
    message.role === 'system' ? { ...message, text: literalTemplate(message.text) } : message,
  );
  // A prompt with roles is stored as a whole, because its tags can be written in several ways.
  const promptText = textIn(extension, 'promptText');
  if (promptText !== null) {
    const system = literalTemplate(textIn(extension, 'systemMessage') ?? '');
    const line = draft.messages[0]?.line ?? null;
    draft.messages = [
      { role: 'system', text: system, line },
      { role: 'user', text: promptText, line },
    ];
  }
  draft.name = textIn(extension, 'name') ?? draft.name;
  draft.folder = textIn(extension, 'folder');
  draft.description = textIn(extension, 'description');
  draft.note = textIn(extension, 'note');
  draft.tags = (listIn(extension, 'tags') ?? []).filter((tag) => typeof tag === 'string');
  const system = aiSystem.safeParse(textIn(extension, 'aiSystem'));
  if (draft.model !== null && system.success) draft.model = { ...draft.model, aiSystem: system.data };
  for (const variable of listIn(extension, 'variables') ?? []) {
    if (!isMap(variable)) continue;
    const details = { description: textIn(variable, 'description'), defaultValue: textIn(variable, 'defaultValue') };
    describeVariable(draft, textIn(variable, 'name') ?? '', {
      ...details,
      sampleValue: textIn(variable, 'sampleValue'),
    });
  }
}

/** Settings of our own lines have our names. They pass the same filter as those of other files. */
function takeConfiguration(draft: Draft, configuration: ReadMap | null, line: number): void {
  for (const [key, read] of configuration ?? []) {
    const [field, value] = [`touchstone.configuration.${key}`, plain(read)];
    const rejection = settingRejection(key, value);
    if (rejection !== null) note(draft, 'refused', field, rejection, line);
    else {
      draft.parameters.set(key, value);
      note(draft, 'taken', field, `Parameter ${key}`, line);
    }
  }
}

/** Fields beside the extension. They repeat its settings; other values in them aren't imported. */
function reportUnused(draft: Draft, body: ReadMap, configuration: ReadMap | null, line: number): void {
  for (const [key, value] of body) {
    if (configuration?.has(key) || ['messages', 'model', 'touchstone'].includes(key)) continue;
    const reason = settingRejection(key, plain(value)) ?? 'Settings are read from touchstone.configuration';
    note(draft, 'refused', key, reason, line);
  }
}

const outer = new Set([
  'messages',
  'touchstone',
  'input',
  'instructions',
  'model',
  'weight',
  'custom_id',
  'method',
  'url',
  'body',
]);

/** A body of chat completions or of responses, as in files for fine-tuning, batches and evaluations. */
export function takeBody(draft: Draft, body: ReadMap, line: number | null): void {
  const model = textIn(body, 'model');
  if (model !== null) draft.model = { aiSystem: null, model };
  const instructions = textIn(body, 'instructions') ?? textIn(body, 'system');
  if (instructions !== null) draft.messages.push({ role: 'system', text: instructions, line });
  else if (listIn(body, 'system') !== null) {
    takeMessages(
      draft,
      [
        new Map<string, unknown>([
          ['role', 'system'],
          ['content', listIn(body, 'system')],
        ]),
      ],
      line,
    );
  }
  const input = body.get('messages') ?? body.get('input');
  takeMessages(draft, Array.isArray(input) ? input : input === undefined ? [] : [input], line);
  takeParameters(draft, new Map([...body].filter(([key]) => !outer.has(key) && key !== 'system')), {
    field: '',
    lineOf: () => line,
  });
}

function draftOf(value: unknown, name: string, line: number): Draft {
  const draft = emptyDraft(name);
  if (!isMap(value)) {
    draft.rejection = { message: "The line isn't a JSON object", line };
    return draft;
  }
  draft.isTrainingExample = !value.has('body');
  const body = mapIn(value, 'body') ?? value;
  draft.name = textIn(value, 'custom_id') ?? name;
  const extension = mapIn(value, 'touchstone');
  // Settings of our own lines come from the extension, where they have our names.
  const own = new Map([...body].filter(([key]) => key === 'messages' || key === 'model'));
  if (!body.has('messages') && !body.has('input')) draft.rejection = { message: 'The line has no messages', line };
  else takeBody(draft, extension === null ? body : own, line);
  takeExtension(draft, extension);
  if (extension !== null) {
    const configuration = mapIn(extension, 'configuration');
    reportUnused(draft, body, configuration, line);
    takeConfiguration(draft, configuration, line);
  }
  return draft;
}

/** One prompt per line. Rejects each line that can't be read, also a truncated last line. */
export const readOpenAiJsonl: Reader = (text, { name }) => {
  const lines = text.split(/\r?\n/);
  if (lines.filter((line) => line.trim() !== '').length > maxTransferredPrompts) {
    throw new TransferError(`The file has more than ${maxTransferredPrompts} lines; split it`);
  }
  const drafts = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const title = `${baseName(name)} ${index + 1}`;
    try {
      return [draftOf(readJson(line, index + 1), title, index + 1)];
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      return [{ ...emptyDraft(title), rejection: { message: error.message, line: index + 1 } }];
    }
  });
  if (drafts.length === 0) throw new TransferError('The file is empty');
  return drafts;
};
