import { RE2JS, RE2JSException } from 're2js';
import type { SimpleCheck } from '../../../shared/contract/checks.ts';
import { valueAtPointer } from '../../../shared/json-schema.ts';
import { startOfText } from '../../common/start-of-text.ts';
import { type CheckedRow, expectedText, expectedValue, fillDeep, fillText, matches, NotJudged } from './expected.ts';
import { findRefusal } from './find-refusal.ts';
import { runScript } from './script-runner.ts';

export interface CheckedToolCall {
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** What a cell's run produced. */
export interface CheckedOutput {
  readonly answer: string;
  readonly toolCalls: readonly CheckedToolCall[];
  readonly finishReason: string | null;
  readonly latencyMs: number | null;
  /** In US dollars; null without a known price. */
  readonly cost: number | null;
  /** The numbers of the passages that the prompt got. */
  readonly passages: readonly number[];
}

/** The outcome of a check before `not`. */
export interface Outcome {
  /** Null for a judge that was paid and gave no verdict. Others throw `NotJudged`. */
  readonly pass: boolean | null;
  readonly score: number | null;
  readonly reason: string;
  /** False for the verdict of a judge that isn't calibrated. */
  readonly counts?: boolean;
  /** Runs of a judge. */
  readonly runIds?: string[];
  /** Of these runs in US dollars; null if a price is unknown. */
  readonly cost?: number | null;
}

/** Checks that need no service. They run in a thread, because patterns, scripts and long answers take time. */
export type LocalCheck = Exclude<SimpleCheck, { kind: 'jsonSchema' | 'similarity' | 'moderation' | 'judge' }>;
type CheckOf<Kind extends LocalCheck['kind']> = Extract<LocalCheck, { kind: Kind }>;

interface Checked {
  readonly output: CheckedOutput;
  readonly row: CheckedRow;
}

function outcome(pass: boolean, reason: string): Outcome {
  return { pass, score: pass ? 1 : 0, reason };
}

function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 100 ? `${JSON.stringify(startOfText(text, 100))}…` : JSON.stringify(text);
}

/** The start of a text that a reason quotes as it is. */
function shortened(text: string): string {
  return text.length > 200 ? `${startOfText(text, 200)}…` : text;
}

function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

function inCase(text: string, ignoreCase: boolean | undefined): string {
  return ignoreCase === true ? text.toLowerCase() : text;
}

/** Whether a value of the answer is the expected one. An expected text may be JSON, such as `2` in a column of a CSV file. */
function isExpected(actual: unknown, expected: unknown): boolean {
  if (typeof expected !== 'string') return matches(actual, expected, true);
  if (typeof actual === 'string') return actual.trim() === expected.trim();
  const parsed = parseJson(expected);
  return parsed !== null && matches(actual, parsed.value, true);
}

function checkEquals(check: CheckOf<'equals'>, { output, row }: Checked): Outcome {
  const expected = expectedValue(check, row);
  const parsed = typeof expected === 'string' ? null : parseJson(output.answer);
  const pass = parsed
    ? matches(parsed.value, expected, true)
    : typeof expected === 'string' &&
      inCase(output.answer.trim(), check.ignoreCase) === inCase(expected.trim(), check.ignoreCase);
  return outcome(pass, pass ? 'The answer is as expected' : `The answer isn't ${excerpt(expected)}`);
}

function checkContains(check: CheckOf<'contains'>, { output, row }: Checked): Outcome {
  const expected = expectedText(check, row);
  if (expected === '') throw new NotJudged('The expected text is empty, which every answer contains');
  const pass = inCase(output.answer, check.ignoreCase).includes(inCase(expected, check.ignoreCase));
  return outcome(pass, `The answer ${pass ? 'contains' : "doesn't contain"} ${excerpt(expected)}`);
}

const flagBits: Readonly<Record<string, number>> = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL };

/** Compiles a pattern; throws `NotJudged` for an invalid one. */
export function compilePattern(pattern: string, flags = ''): RE2JS {
  try {
    return RE2JS.compile(
      pattern,
      [...flags].reduce((bits, flag) => bits | (flagBits[flag] ?? 0), 0),
    );
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new NotJudged(
      `is not a valid regular expression: ${error.message.replace('error parsing regexp: ', '').slice(0, 200)}`,
    );
  }
}

function checkRegularExpression({ pattern, flags }: CheckOf<'regularExpression'>, { output, row }: Checked): Outcome {
  const matcher = compilePattern(fillText(pattern, row, RE2JS.quote), flags).matcher(output.answer);
  const pass = matcher.find();
  return outcome(pass, pass ? `Matches ${excerpt(matcher.group() ?? '')}` : 'No match in the answer');
}

function pathPointer(path: string): string {
  if (path.startsWith('/')) return path;
  const keys = path
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .replace(/^\./, '')
    .split('.');
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function checkField(check: CheckOf<'field'>, { output, row }: Checked): Outcome {
  const expected = expectedValue(check, row);
  const parsed = parseJson(output.answer);
  if (!parsed) return outcome(false, 'The answer is not valid JSON');
  const actual = valueAtPointer(parsed.value, pathPointer(check.path));
  if (actual === undefined) return outcome(false, `The answer has no field ${startOfText(check.path, 100)}`);
  const pass = isExpected(actual, expected);
  return outcome(pass, pass ? `${excerpt(actual)}, as expected` : `${excerpt(actual)} instead of ${excerpt(expected)}`);
}

function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) if ((text.charCodeAt(index) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function checkLength(
  { unit = 'characters', min = 0, max = Infinity }: CheckOf<'length'>,
  { output }: Checked,
): Outcome {
  const count = unit === 'words' ? countWords(output.answer) : countCharacters(output.answer);
  const limit = count < min ? `, at least ${min} expected` : count > max ? `, at most ${max} expected` : '';
  return outcome(limit === '', `${count.toLocaleString('en-US')} ${unit}${limit}`);
}

function checkLatency({ maxMs }: CheckOf<'latency'>, { output: { latencyMs } }: Checked): Outcome {
  if (latencyMs === null) throw new NotJudged('The latency is unknown');
  const pass = latencyMs <= maxMs;
  return outcome(pass, `${Math.round(latencyMs)} ms${pass ? '' : `, at most ${maxMs} ms expected`}`);
}

function checkCost({ maxCost }: CheckOf<'cost'>, { output: { cost } }: Checked): Outcome {
  if (cost === null) throw new NotJudged('The price of the model is unknown');
  const pass = cost <= maxCost;
  return outcome(pass, `$${cost}${pass ? '' : `, at most $${maxCost} expected`}`);
}

function checkRefusal(_: CheckOf<'refusal'>, { output: { answer, finishReason } }: Checked): Outcome {
  if (finishReason === 'ContentFilter') return outcome(true, 'A content filter stopped the answer');
  const phrase = findRefusal(answer);
  return outcome(phrase !== null, phrase === null ? 'No refusal found' : `The answer says "${phrase}"`);
}

function checkToolCall({ tool, arguments: expected }: CheckOf<'toolCall'>, { output, row }: Checked): Outcome {
  const calls = output.toolCalls.filter(({ name }) => name === tool);
  if (calls.length === 0) {
    const others = output.toolCalls.map(({ name }) => name).slice(0, 5);
    return outcome(
      false,
      others.length === 0 ? 'No tool was called' : `Called ${shortened(others.join(', '))} instead`,
    );
  }
  if (!expected) return outcome(true, `Called ${tool}`);
  const filled = fillDeep(expected, row);
  const pass = calls.some((call) => {
    const parsed = parseJson(call.arguments);
    return parsed !== null && matches(parsed.value, filled, false);
  });
  return outcome(pass, pass ? `Called ${tool} as expected` : `Called ${tool} with ${shortened(calls[0]!.arguments)}`);
}

function checkCitation({ min = 1 }: CheckOf<'citation'>, { output: { answer, passages } }: Checked): Outcome {
  const cited = new Set(
    [...answer.matchAll(/\[(\d{1,4}(?:,[ ]?\d{1,4}){0,20})\]/g)].flatMap(([, list]) => list!.split(',').map(Number)),
  );
  const invented = [...cited].filter((index) => !passages.includes(index));
  if (invented.length > 0) {
    return outcome(
      false,
      `Cites [${invented.slice(0, 5).join(', ')}], but got ${passages.length === 0 ? 'no passages' : `passages 1 to ${Math.max(...passages)}`}`,
    );
  }
  return outcome(
    cited.size >= min,
    `Cites ${cited.size} of ${passages.length} passages${cited.size >= min ? '' : `, at least ${min} expected`}`,
  );
}

/** Throws `NotJudged` for what can't be judged. */
export function runLocalCheck(check: LocalCheck, checked: Checked): Outcome | Promise<Outcome> {
  switch (check.kind) {
    case 'equals':
      return checkEquals(check, checked);
    case 'contains':
      return checkContains(check, checked);
    case 'regularExpression':
      return checkRegularExpression(check, checked);
    case 'field':
      return checkField(check, checked);
    case 'length':
      return checkLength(check, checked);
    case 'latency':
      return checkLatency(check, checked);
    case 'cost':
      return checkCost(check, checked);
    case 'refusal':
      return checkRefusal(check, checked);
    case 'toolCall':
      return checkToolCall(check, checked);
    case 'citation':
      return checkCitation(check, checked);
    case 'javascript': {
      const { answer, toolCalls, latencyMs, cost } = checked.output;
      return runScript(check.code, { answer, row: checked.row, toolCalls, latencyMs, cost });
    }
  }
}
