import quickJsVariant from '@jitl/quickjs-singlefile-mjs-release-sync';
import { newQuickJSWASMModuleFromVariant, type QuickJSContext, type QuickJSWASMModule } from 'quickjs-emscripten-core';
import { NotJudged } from './expected.ts';

/** What a script gets; everything else that it sees is JavaScript itself. */
export interface ScriptInput {
  readonly answer: string;
  readonly row: unknown;
  readonly toolCalls: unknown;
  readonly latencyMs: number | null;
  readonly cost: number | null;
}

export interface ScriptVerdict {
  readonly pass: boolean;
  readonly score: number;
  readonly reason: string;
}

export interface ScriptLimits {
  readonly milliseconds: number;
  readonly bytes: number;
}

const defaultLimits: ScriptLimits = { milliseconds: 1000, bytes: 64 * 1_048_576 };
const stackBytes = 512 * 1024;
const maxReasonCharacters = 1000;

const parameters = 'answer, row, toolCalls, latencyMs, cost';

/** The code is an expression, or else the body of a function. */
const forms = [
  (code: string) => `((${parameters}) => (${code}\n))`,
  (code: string) => `((${parameters}) => {${code}\n})`,
];

/** Makes text of what the script returns, because only text leaves QuickJS. */
const evaluation = (form: string) => `(() => {
  const { stringify, parse } = JSON;
  const { answer, row, toolCalls, latencyMs, cost } = parse(input);
  const result = ${form}(answer, row, toolCalls, latencyMs, cost);
  const kind = typeof result;
  if (kind !== 'object' || result === null) return stringify({ kind, value: kind === 'boolean' || kind === 'number' ? result : null });
  const { pass, score, reason } = result;
  return stringify({ kind, value: { pass, score, reason } });
})()`;

/** The text itself, or JSON of another value. */
const transformation = (form: string) => `(() => {
  const { stringify, parse } = JSON;
  const { answer, row, toolCalls, latencyMs, cost } = parse(input);
  const result = ${form}(answer, row, toolCalls, latencyMs, cost);
  return typeof result === 'string' ? result : stringify(result) ?? '';
})()`;

let loading: Promise<QuickJSWASMModule> | null = null;

async function withContext<Value>(limits: ScriptLimits, use: (context: QuickJSContext) => Value): Promise<Value> {
  const module = await (loading ??= newQuickJSWASMModuleFromVariant(quickJsVariant));
  try {
    const runtime = module.newRuntime();
    runtime.setMemoryLimit(limits.bytes);
    runtime.setMaxStackSize(stackBytes);
    const deadline = performance.now() + limits.milliseconds;
    runtime.setInterruptHandler(() => performance.now() > deadline);
    const context = runtime.newContext();
    const value = use(context);
    context.dispose();
    runtime.dispose();
    return value;
  } catch (error) {
    // The memory of the module may be damaged after an error that isn't the script's.
    if (!(error instanceof NotJudged)) loading = null;
    throw error;
  }
}

function evaluate(context: QuickJSContext, code: string): { readonly value: string } | { readonly error: string } {
  const result = context.evalCode(code, 'check.js');
  if (result.error) {
    const dumped: unknown = context.dump(result.error);
    result.error.dispose();
    return { error: describeError(dumped) };
  }
  const value = context.typeof(result.value) === 'string' ? context.getString(result.value) : '';
  result.value.dispose();
  return { value };
}

function describeError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error).slice(0, 300);
  const { name = 'Error', message = '' } = error as { readonly name?: unknown; readonly message?: unknown };
  return `${String(name)}: ${String(message)}`.slice(0, 300);
}

/** The form in which the code compiles, or the error of the last one. */
function compile(context: QuickJSContext, code: string): { readonly form: string } | { readonly error: string } {
  let error = '';
  for (const wrap of forms) {
    // Not called: it only compiles.
    const result = evaluate(context, `${wrap(code)}; ''`);
    if (!('error' in result)) return { form: wrap(code) };
    error = result.error;
  }
  return { error };
}

/** Null for code that compiles, or what is wrong with it. */
export function findScriptError(code: string, limits = defaultLimits): Promise<string | null> {
  return withContext(limits, (context) => {
    const compiled = compile(context, code);
    return 'error' in compiled ? compiled.error : null;
  });
}

/** The value of a script as text. */
function valueOf(code: string, input: ScriptInput, limits: ScriptLimits, evaluated: (form: string) => string) {
  return withContext(limits, (context) => {
    const compiled = compile(context, code);
    if ('error' in compiled) throw new NotJudged(`The script is not valid JavaScript: ${compiled.error}`);
    const text = context.newString(JSON.stringify(input));
    context.setProp(context.global, 'input', text);
    text.dispose();
    const result = evaluate(context, evaluated(compiled.form));
    if ('error' in result) throw new NotJudged(describeFailure(result.error, limits));
    return result.value;
  });
}

/** Runs a script. Throws `NotJudged` for one that fails, reaches a limit, or returns anything but a verdict. */
export async function runScript(code: string, input: ScriptInput, limits = defaultLimits): Promise<ScriptVerdict> {
  return toVerdict(await valueOf(code, input, limits, evaluation));
}

/** The text that a script makes of an answer; JSON of any other value. Throws `NotJudged` for one that fails or reaches a limit. */
export function runTransform(code: string, input: ScriptInput, limits = defaultLimits): Promise<string> {
  return valueOf(code, input, limits, transformation);
}

function describeFailure(error: string, { milliseconds, bytes }: ScriptLimits): string {
  if (error === 'InternalError: interrupted') return `The script took more than ${milliseconds / 1000} s`;
  if (error === 'InternalError: out of memory' || error === 'null') {
    return `The script needed more than ${Math.round(bytes / 1_048_576)} MB`;
  }
  return `The script failed: ${error}`;
}

const wrongResult = 'The script must return true or false, a score from 0 to 1, or {pass, score, reason}';

function isScore(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

/** A score alone passes from 0.5. */
function toVerdict(text: string): ScriptVerdict {
  let value: unknown;
  let kind: unknown;
  try {
    ({ kind, value } = JSON.parse(text) as { kind: unknown; value: unknown });
  } catch {
    throw new NotJudged(wrongResult);
  }
  if (typeof value === 'boolean') return { pass: value, score: value ? 1 : 0, reason: `The script returned ${value}` };
  if (isScore(value)) return { pass: value >= 0.5, score: value, reason: `The script returned ${value}` };
  if (typeof value !== 'object' || value === null) {
    throw new NotJudged(`${wrongResult}, not ${kind === 'number' ? 'another number' : String(kind).slice(0, 20)}`);
  }
  const { pass, score, reason } = value as { pass?: unknown; score?: unknown; reason?: unknown };
  const hasScore = score !== undefined && score !== null;
  if ((hasScore && !isScore(score)) || (typeof pass !== 'boolean' && !isScore(score))) throw new NotJudged(wrongResult);
  const passes = typeof pass === 'boolean' ? pass : (score as number) >= 0.5;
  return {
    pass: passes,
    score: isScore(score) ? score : Number(passes),
    reason:
      typeof reason === 'string'
        ? reason.slice(0, maxReasonCharacters)
        : `The script returned ${passes ? 'a pass' : 'a fail'}`,
  };
}
