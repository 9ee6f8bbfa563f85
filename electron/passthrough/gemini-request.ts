import type { Message, MessagePart, ToolCallPart } from '../../shared/contract/messages.ts';
import { type Fields, isObject, jsonOf, listOf, objectOf, textOf } from './fields.ts';
import { geminiPartText, signedBy } from './gemini-response.ts';
import type { SentFiles } from './sent-files.ts';

/** A request to Gemini as it is recorded, with its parameters under the names of completions. */
export interface GeminiRequest {
  readonly messages: Message[];
  readonly system: string;
  readonly configuration: Record<string, unknown>;
}

/** Google accepts both `inlineData` and `inline_data`. */
function fieldsOf(value: unknown): Fields {
  const entries = Object.entries(objectOf(value));
  return Object.fromEntries(
    entries.map(([name, field]) => [name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), field]),
  );
}

const text = (value: string): MessagePart => ({ type: 'text', text: value });

/** Calls and results may come without ids; a result then belongs to the first open call of its function. */
class CallIds {
  readonly #open = new Map<string, Set<string>>();
  #count = 0;

  ofCall(id: string, name: string): string {
    const own = id || `call_${(this.#count += 1)}`;
    const open = this.#open.get(name);
    if (open) open.add(own);
    else this.#open.set(name, new Set([own]));
    return own;
  }

  ofResult(id: string, name: string): string {
    const open = this.#open.get(name);
    const own = id || (open?.values().next().value ?? name);
    open?.delete(own);
    return own;
  }
}

/** Google's convention: `output` has the result of a function, and `error` what went wrong. */
function resultText(response: unknown): { content: string; isError: boolean } {
  const fields = objectOf(response);
  const [only, ...others] = Object.keys(fields);
  const isError = only === 'error' && others.length === 0;
  const isPlain = others.length === 0 && (isError || only === 'output');
  return { content: jsonOf(isPlain ? fields[only!] : (response ?? '')), isError };
}

/** The files in the result of a function, which come after it. */
function resultFiles(parts: unknown, files: SentFiles): MessagePart[] {
  return listOf(parts).flatMap((part) => {
    const { inlineData } = fieldsOf(part);
    const { mimeType, data, displayName } = fieldsOf(inlineData);
    return isObject(inlineData) ? [files.add(textOf(mimeType), textOf(data), textOf(displayName))] : [];
  });
}

/** `isModel` is whether the model sent it. */
function contentPart(value: unknown, files: SentFiles, ids: CallIds, isModel: boolean): MessagePart[] {
  const part = fieldsOf(value);
  if (part['thought'] === true) return [];
  if (typeof part['text'] === 'string') return part['text'] === '' ? [] : [text(part['text'])];
  const made = isModel ? geminiPartText(part) : null;
  if (made !== null) return [text(made)];
  if (part['inlineData'] !== undefined) {
    const { mimeType, data, displayName } = fieldsOf(part['inlineData']);
    return [files.add(textOf(mimeType), textOf(data), textOf(displayName))];
  }
  if (part['fileData'] !== undefined)
    return [text(`[${files.startOf(textOf(fieldsOf(part['fileData'])['fileUri']))}]`)];
  if (part['functionCall'] !== undefined) {
    const { id, name, args } = objectOf(part['functionCall']);
    const called = { id: ids.ofCall(textOf(id), textOf(name)), name: textOf(name), arguments: jsonOf(args ?? {}) };
    return [{ type: 'toolCall', ...called, ...signedBy(part['thoughtSignature']) } as ToolCallPart];
  }
  if (part['functionResponse'] !== undefined) {
    const { id, name, response, parts } = objectOf(part['functionResponse']);
    const toolCallId = ids.ofResult(textOf(id), textOf(name));
    return [{ type: 'toolResult', toolCallId, ...resultText(response) }, ...resultFiles(parts, files)];
  }
  // A signature alone is only for the provider.
  if (Object.keys(part).every((name) => name === 'thoughtSignature')) return [];
  return [text(files.startOf(jsonOf(value)))];
}

/** The texts of one message that follow each other, as one. */
function joinTexts(parts: readonly MessagePart[]): MessagePart[] {
  const joined: MessagePart[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) joined.push(text(texts.join('')));
    texts = [];
  };
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text);
    else {
      flush();
      joined.push(part);
    }
  }
  flush();
  return joined;
}

/** Programs repeat a streamed answer in as many contents as it had chunks; they are one message here. */
function messagesOf(contents: unknown, files: SentFiles): Message[] {
  const messages: Message[] = [];
  const ids = new CallIds();
  let answer: MessagePart[] = [];
  const endAnswer = (): void => {
    if (answer.length > 0) messages.push({ role: 'assistant', content: joinTexts(answer) });
    answer = [];
  };
  for (const value of listOf(contents)) {
    const { role, parts } = objectOf(value);
    const content = listOf(parts).flatMap((part) => contentPart(part, files, ids, role === 'model'));
    if (role === 'model') {
      for (const part of content) answer.push(part);
      continue;
    }
    endAnswer();
    const results = content.filter(({ type }) => type === 'toolResult');
    const rest = content.filter(({ type }) => type !== 'toolResult');
    if (results.length > 0) messages.push({ role: 'tool', content: results });
    if (rest.length > 0 || results.length === 0) messages.push({ role: 'user', content: rest });
  }
  endAnswer();
  return messages;
}

/** Deeper schemas stay as they are. */
const maxSchemaDepth = 64;

/** Google's schemas write types in capitals and have `nullable`. */
function jsonSchemaOf(value: unknown, depth = 0): unknown {
  if (depth > maxSchemaDepth) return value;
  if (Array.isArray(value)) return value.map((item) => jsonSchemaOf(item, depth + 1));
  if (!isObject(value)) return value;
  const schema: Record<string, unknown> = {};
  const { type, nullable, properties, ...rest } = value;
  if (typeof type === 'string') schema['type'] = nullable === true ? [type.toLowerCase(), 'null'] : type.toLowerCase();
  else if (type !== undefined) schema['type'] = type;
  if (isObject(properties)) {
    const named = Object.entries(properties).map(([name, property]) => [name, jsonSchemaOf(property, depth + 1)]);
    schema['properties'] = Object.fromEntries(named);
  }
  for (const [name, field] of Object.entries(rest)) {
    const isSchema = name === 'items' || name === 'anyOf' || name === 'any_of';
    schema[name === 'any_of' ? 'anyOf' : name] = isSchema ? jsonSchemaOf(field, depth + 1) : field;
  }
  return schema;
}

/** The functions in the format of completions; Google's own tools stay as they are. */
function toolsOf(value: unknown): unknown[] {
  return listOf(value).flatMap((tool) => {
    const { functionDeclarations, ...own } = fieldsOf(tool);
    const functions = listOf(functionDeclarations).map((declaration) => {
      const { name, description, parameters, parametersJsonSchema } = fieldsOf(declaration);
      const schema = parametersJsonSchema ?? jsonSchemaOf(parameters) ?? { type: 'object', properties: {} };
      return {
        type: 'function',
        function: { name, ...(description !== undefined && { description }), parameters: schema },
      };
    });
    return [...functions, ...(Object.keys(own).length > 0 ? [own] : [])];
  });
}

const choices = new Map([
  ['AUTO', 'auto'],
  ['ANY', 'required'],
  ['NONE', 'none'],
]);

/** Null for a choice that completions don't have. */
function choiceOf(toolConfig: unknown): unknown {
  const { mode, allowedFunctionNames } = fieldsOf(fieldsOf(toolConfig)['functionCallingConfig']);
  const names = listOf(allowedFunctionNames);
  if (names.length === 0) return choices.get(textOf(mode)) ?? null;
  return mode === 'ANY' && names.length === 1 ? { type: 'function', function: { name: names[0] } } : null;
}

const renamed = new Map([
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['maxOutputTokens', 'max_tokens'],
  ['stopSequences', 'stop'],
  ['seed', 'seed'],
  ['presencePenalty', 'presence_penalty'],
  ['frequencyPenalty', 'frequency_penalty'],
]);

const formatFields = new Set(['responseMimeType', 'responseSchema', 'responseJsonSchema']);

function responseFormat({ responseMimeType, responseSchema, responseJsonSchema }: Fields): Fields {
  if (responseMimeType !== 'application/json') return {};
  const schema = responseJsonSchema ?? jsonSchemaOf(responseSchema);
  if (!isObject(schema)) return { response_format: { type: 'json_object' } };
  return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } };
}

/** The thinking level is an effort; anything else stays under Google's name. */
function thinkingOf(value: unknown): { effort: string; rest: Fields | null } {
  const { thinkingLevel, ...rest } = fieldsOf(value);
  return { effort: textOf(thinkingLevel).toLowerCase(), rest: Object.keys(rest).length > 0 ? rest : null };
}

/** What completions have no name for stays in `generationConfig`. */
function generationParameters(value: unknown): Record<string, unknown> {
  const { thinkingConfig, ...fields } = fieldsOf(value);
  const format = responseFormat(fields);
  const { effort, rest: thinking } = thinkingOf(thinkingConfig);
  const own = Object.entries(fields).filter(
    ([name]) => !renamed.has(name) && !('response_format' in format && formatFields.has(name)),
  );
  if (thinking !== null) own.push(['thinkingConfig', thinking]);
  const named = [...renamed].filter(([name]) => fields[name] !== undefined);
  return {
    ...Object.fromEntries(named.map(([name, parameter]) => [parameter, fields[name]])),
    ...format,
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(own.length > 0 && { generationConfig: Object.fromEntries(own) }),
  };
}

function systemText(value: unknown): string {
  if (typeof value === 'string') return value;
  return listOf(objectOf(value)['parts'])
    .map((part) => textOf(objectOf(part)['text']))
    .join('');
}

/** Reads the body of `generateContent` and of its stream without ever failing. */
export function readGeminiRequest(body: Fields, files: SentFiles): GeminiRequest {
  const { contents, systemInstruction, tools, toolConfig, generationConfig, ...rest } = fieldsOf(body);
  const { model: _, ...other } = rest;
  const listed = toolsOf(tools);
  const choice = choiceOf(toolConfig);
  return {
    messages: messagesOf(isObject(contents) ? [contents] : contents, files),
    system: systemText(systemInstruction),
    configuration: {
      ...generationParameters(generationConfig),
      ...(listed.length > 0 && { tools: listed }),
      ...(choice !== null && { tool_choice: choice }),
      ...(choice === null && toolConfig !== undefined && { toolConfig }),
      ...other,
    },
  };
}
