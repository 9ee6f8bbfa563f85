/** Runs a compiled template. The result is that of Handlebars with `noEscape`, without generating code. */

import type { FilePart, Message } from './contract/messages.ts';
import { jsonText, TooDeepError } from './prompt-template-json.ts';
import { maxMessages, MessageCollector } from './prompt-template-messages.ts';
import type { Expression, Instruction, PathExpression, Program } from './prompt-template-program.ts';
import { TemplateProblem } from './prompt-template-syntax.ts';
import { isEmpty, isObject, ownProperty } from './prompt-template-values.ts';

export interface RenderLimits {
  /** Max tags, loop iterations and list items of one rendering. Work on long values also counts by their length. */
  readonly steps: number;
  /** Max characters (UTF-16 units) of the rendered text. */
  readonly characters: number;
}

/** Comparing or parsing this many characters takes about as long as one tag. */
const charactersPerStep = 32;
/** Following this many parts of a path takes about as long as one tag. */
const partsPerStep = 4;
/**
 * From this length on, V8 hashes a key by its length alone, so a lookup compares it with every other key of that length. All keys
 * together are at most as long as the request.
 */
const maxHashedCharacters = 16_000;
const longKeySteps = 16_000;

/** The limit that a rendering exceeded. */
export class RenderLimitError extends Error {
  readonly limit: keyof RenderLimits | 'messages';

  constructor(limit: keyof RenderLimits | 'messages') {
    super(`Over the limit of ${limit}`);
    this.name = 'RenderLimitError';
    this.limit = limit;
  }
}

interface Contexts {
  readonly context: unknown;
  readonly outer: Contexts | null;
}

interface Parameters {
  readonly values: readonly unknown[];
  readonly outer: Parameters | null;
}

/** `@root`, `@index` and the others; `_parent` is the outer frame. */
type Data = Readonly<Record<string, unknown>>;

interface Frame {
  readonly context: unknown;
  readonly contexts: Contexts;
  readonly data: Data;
  readonly parameters: Parameters | null;
}

type Insertion = Exclude<Instruction, { type: 'content' | 'value' | 'block' }>;

/** JavaScript's text of an object, which is never wanted in a prompt. */
export const objectText = '[object Object]';

/** Replaces a context that is null, as in Handlebars' helpers. */
const nullContext: object = Object.freeze({});

/** The input of a rendering. */
export interface RenderInput {
  readonly replacements: Readonly<Record<string, unknown>>;
  /** The earlier messages, oldest first; null outside of a conversation, where `{{history}}` is an error. */
  readonly history: readonly Message[] | null;
  /** Whether `{{history}}` is a variable even without a value. */
  readonly isHistoryVariable: boolean;
  /** The file in a value, or the files in a list; null for every other value. */
  readonly filesOf: (value: unknown, contentType: unknown) => readonly FilePart[] | null;
}

export class TemplateRenderer {
  readonly unfilled = new Set<string>();
  /** Tags that printed an object, by the name of their value. */
  readonly printedObjects = new Set<string>();
  private readonly collector = new MessageCollector();
  private characters = 0;
  private steps = 0;
  private readonly limits: RenderLimits;
  private readonly input: RenderInput;
  private readonly replacements: Readonly<Record<string, unknown>>;

  constructor(input: RenderInput, limits: RenderLimits) {
    this.input = input;
    this.replacements = input.replacements;
    this.limits = limits;
  }

  /** Throws `RenderLimitError`, and `TemplateProblem` for a tag that can't be rendered. */
  render(program: Program): Message[] {
    const context = this.replacements;
    this.run(program, { context, contexts: { context, outer: null }, data: { root: context }, parameters: null });
    const messages = this.collector.finish(this.input.history ?? []);
    this.requireRoomFor(messages.length);
    return messages;
  }

  private step(): void {
    this.charge(1);
  }

  private charge(steps: number): void {
    this.steps += steps;
    if (this.steps > this.limits.steps) throw new RenderLimitError('steps');
  }

  private chargeText(text: string): void {
    if (text.length >= charactersPerStep) this.charge(Math.ceil(text.length / charactersPerStep));
  }

  private append(text: string): void {
    this.characters += text.length;
    if (this.characters > this.limits.characters) throw new RenderLimitError('characters');
    this.collector.append(text);
  }

  private requireRoomFor(messages: number): void {
    if (messages > maxMessages) throw new RenderLimitError('messages');
  }

  private run(program: Program, frame: Frame): void {
    for (const instruction of program.body) {
      this.step();
      if (instruction.type === 'content') this.append(instruction.text);
      else if (instruction.type === 'value') this.print(instruction.value, frame);
      else if (instruction.type === 'block') this.block(instruction, frame);
      else this.insert(instruction, frame);
    }
  }

  private insert(instruction: Insertion, frame: Frame): void {
    switch (instruction.type) {
      case 'json':
        return this.json(instruction, frame);
      case 'role':
        this.collector.startRole(instruction.role);
        return this.requireRoomFor(this.collector.count);
      case 'media':
        return this.media(instruction, frame);
      case 'history':
        return this.history(instruction, frame);
    }
  }

  private history({ variable, start }: Extract<Instruction, { type: 'history' }>, frame: Frame): void {
    const isVariable = this.input.isHistoryVariable || Object.hasOwn(this.replacements, 'history');
    // Inside of a block that is about null, every path has the value null.
    const isField = (frame.context ?? null) !== null && this.resolve(variable, frame) !== undefined;
    if (isVariable || isField) return this.print(variable, frame);
    const { history } = this.input;
    if (history === null)
      throw new TemplateProblem(
        '{{history}} needs a conversation: run the prompt as an agent, or give a replacement for history',
        start,
      );
    this.collector.addHistory(history);
    this.requireRoomFor(this.collector.count);
  }

  private media({ url, contentType, name, start }: Extract<Instruction, { type: 'media' }>, frame: Frame): void {
    const files = this.input.filesOf(
      this.evaluate(url, frame, false),
      contentType && this.evaluate(contentType, frame, false),
    );
    if (files === null) throw new TemplateProblem(`media needs a file, and "${name}" holds none`, start);
    this.charge(files.length);
    for (const file of files) this.collector.addFile(file);
  }

  private json({ value, indent, start }: Extract<Instruction, { type: 'json' }>, frame: Frame): void {
    const space = indent && this.evaluate(indent, frame, false);
    try {
      const text = jsonText(this.evaluate(value, frame, true), space, (characters) =>
        this.charge(Math.ceil(characters / charactersPerStep)),
      );
      if (text !== undefined) this.append(text);
    } catch (error) {
      if (error instanceof TooDeepError) throw new TemplateProblem(`json: ${error.message}`, start);
      throw error;
    }
  }

  /** Runs a body in a context. Handlebars adds a level for `../` only if the context differs from the previous one. */
  private enter(
    program: Program | null,
    context: unknown,
    frame: Frame,
    data = frame.data,
    values: readonly unknown[] = [],
  ): void {
    if (!program) return;
    const isSame = this.isSameContext(context, frame.contexts.context);
    const contexts = isSame ? frame.contexts : { context, outer: frame.contexts };
    const parameters = program.hasParameters ? { values, outer: frame.parameters } : frame.parameters;
    this.run(program, { context, contexts, data, parameters });
  }

  /** Handlebars compares contexts with `!=`: the text "1" inside the list ["1"] does not count as another one. */
  private isSameContext(inner: unknown, outer: unknown): boolean {
    const [isInnerObject, isOuterObject] = [isObject(inner), isObject(outer)];
    if (isInnerObject && isOuterObject) return inner === outer;
    if (inner === nullContext && outer === null) return true;
    const [one, other] = [isInnerObject ? this.asText(inner) : inner, isOuterObject ? this.asText(outer) : outer];
    this.chargeComparison(one, other);
    // eslint-disable-next-line eqeqeq -- the comparison that Handlebars makes
    return one == other;
  }

  /** Texts of the same length are compared; beside a number or a boolean, a text is parsed as a number. */
  private chargeComparison(one: unknown, other: unknown): void {
    const isNothing = one === null || one === undefined || other === null || other === undefined;
    const isLengthEqual = typeof one !== 'string' || typeof other !== 'string' || one.length === other.length;
    if (isNothing || !isLengthEqual) return;
    if (typeof one === 'string') this.chargeText(one);
    else if (typeof other === 'string') this.chargeText(other);
  }

  private block(block: Extract<Instruction, { type: 'block' }>, frame: Frame): void {
    const value = this.evaluate(block.value, frame, (block.kind === 'each' || block.kind === 'with') && !block.inverse);
    const own = frame.context ?? nullContext;
    switch (block.kind) {
      case 'if':
      case 'unless': {
        const includesZero = block.includeZero !== null && Boolean(this.evaluate(block.includeZero, frame, false));
        const isTrue = (includesZero || Boolean(value)) && !isEmpty(value);
        return this.enter(isTrue === (block.kind === 'if') ? block.program : block.inverse, own, frame);
      }
      case 'ifEquals':
      case 'unlessEquals': {
        const other = this.evaluate(block.other!, frame, false);
        this.chargeComparison(value, other);
        const isEqual = value === other;
        return this.enter(isEqual === (block.kind === 'ifEquals') ? block.program : block.inverse, own, frame);
      }
      case 'each':
        return this.each(block.program, block.inverse, value, own, frame);
      case 'with':
        return isEmpty(value)
          ? this.enter(block.inverse, own, frame)
          : this.enter(block.program, value, frame, frame.data, [value]);
      case 'plain':
        return this.section(block.program, block.inverse, value, frame);
    }
  }

  private section(program: Program | null, inverse: Program | null, value: unknown, frame: Frame): void {
    if (value === true) return this.enter(program, frame.context, frame);
    if (value === false || value === null || value === undefined) return this.enter(inverse, frame.context, frame);
    if (!Array.isArray(value)) return this.enter(program, value, frame);
    if (value.length === 0) return this.enter(inverse, frame.context, frame);
    this.each(program, inverse, value, frame.context, frame);
  }

  private each(program: Program | null, inverse: Program | null, value: unknown, own: unknown, frame: Frame): void {
    const keys = isObject(value) && !Array.isArray(value) ? Object.keys(value) : null;
    const length = keys ? keys.length : Array.isArray(value) ? value.length : 0;
    for (let index = 0; index < length; index++) {
      this.step();
      const key = keys ? keys[index] : index;
      const item = (value as Record<PropertyKey, unknown>)[key as PropertyKey];
      const position = { key, index, first: index === 0, last: index === length - 1 };
      this.enter(program, item, frame, { ...frame.data, ...position, _parent: frame.data }, [item, key]);
    }
    if (length === 0) this.enter(inverse, own, frame);
  }

  private evaluate(expression: Expression, frame: Frame, isNeeded: boolean): unknown {
    this.step();
    if (expression.type === 'literal') return expression.value;
    const value = expression.type === 'path' ? this.resolve(expression, frame) : this.lookup(expression, frame);
    if (value === undefined && isNeeded) this.unfilled.add(expression.name);
    return value;
  }

  private lookup(expression: Extract<Expression, { type: 'lookup' }>, frame: Frame): unknown {
    const target = this.evaluate(expression.target, frame, false);
    const key = this.evaluate(expression.key, frame, true);
    if (!target) return target;
    const name = this.asText(key) ?? String(key);
    this.chargeText(name);
    if (name.length > maxHashedCharacters) this.charge(longKeySteps);
    return ownProperty(target, name);
  }

  private resolve(path: PathExpression, frame: Frame): unknown {
    if (path.parts.length >= partsPerStep) this.charge(Math.ceil(path.parts.length / partsPerStep));
    if (path.source === 'data') return this.resolveData(path, frame.data);
    if (path.source === 'parameter') {
      let parameters = frame.parameters;
      for (let up = path.up; up > 0 && parameters; up--) parameters = parameters.outer;
      return this.follow(parameters?.values, path.parts);
    }
    let contexts: Contexts | null = frame.contexts;
    for (let up = path.up; up > 0 && contexts; up--) contexts = contexts.outer;
    const from = path.up === 0 ? frame.context : contexts?.context;
    const value = this.follow(from, path.parts);
    if (value !== undefined || from !== this.replacements) return value;
    const key = path.literalKeys.find((one) => Object.hasOwn(this.replacements, one));
    return key === undefined ? undefined : ownProperty(this.replacements, key);
  }

  private follow(from: unknown, parts: readonly string[]): unknown {
    let value = from;
    for (const part of parts) {
      if (value === null || value === undefined) return value;
      value = ownProperty(value, part);
    }
    return value;
  }

  /** Unlike other paths, a data path ends at the first falsy value: `@index.x` is 0 if `@index` is. */
  private resolveData(path: PathExpression, data: Data): unknown {
    let value: unknown = data;
    for (let up = path.up; up > 0 && value; up--) value = ownProperty(value, '_parent');
    for (const part of path.parts) {
      if (!value) return value;
      value = ownProperty(value, part);
    }
    return value;
  }

  private print(expression: Expression, frame: Frame): void {
    const value = this.evaluate(expression, frame, true);
    const text = this.asText(value);
    if (text === null) return;
    this.chargeText(text);
    if (isObject(value) && text.includes(objectText)) {
      this.printedObjects.add('name' in expression ? expression.name : 'this');
    }
    this.append(text);
  }

  /** The text of a JSON value as `'' + value` returns it; null for nothing. Lists are processed without recursion. */
  private asText(value: unknown): string | null {
    if (value === null || value === undefined) return null;
    if (!Array.isArray(value)) return typeof value === 'object' ? objectText : String(value);
    let text = '';
    const open: { list: readonly unknown[]; next: number }[] = [{ list: value, next: 0 }];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      if (top.next >= top.list.length) {
        open.pop();
        continue;
      }
      this.step();
      if (top.next > 0) text += ',';
      const item = top.list[top.next++];
      if (Array.isArray(item)) open.push({ list: item, next: 0 });
      else if (item !== null && item !== undefined) text += typeof item === 'object' ? objectText : String(item);
      if (text.length > this.limits.characters) throw new RenderLimitError('characters');
    }
    return text;
  }
}
