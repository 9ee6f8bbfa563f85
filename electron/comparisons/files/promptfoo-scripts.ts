/** Code of promptfoo as scripts of checks, with the names that promptfoo has for its inputs. */

/** An expression, or the body of a function. */
const bodyOf = (code: string) => (/\breturn\b/.test(code) ? code : `return (${code.replace(/;\s*$/, '')});`);

interface ScriptOptions {
  /** From this number on, a score passes; null for any above 0. */
  readonly threshold: number | null;
  readonly config: unknown;
  /** What `transformOf` returned; null for none. */
  readonly transform: string | null;
}

/** promptfoo gives the calls of tools as the output of a model that says nothing else, in the form of OpenAI. */
const said = `const said = answer === '' && toolCalls.length > 0
  ? toolCalls.map(({ name, arguments: written }) => ({ type: 'function', function: { name, arguments: written } }))
  : answer;`;

export function scriptOf(code: string, { threshold, config, transform }: ScriptOptions): string {
  const passes = threshold === null ? 'value > 0' : `value >= ${threshold}`;
  const configured = config === null ? '' : `, config: ${JSON.stringify(config)}`;
  return `${transform ?? said}
const output = ${transform === null ? 'said' : 'transformed'};
const context = { vars: row, prompt: ''${configured} };
const value = (() => { ${bodyOf(code)}
})();
if (typeof value !== 'number') return value;
return { pass: ${passes}, score: Math.min(Math.max(value, 0), 1), reason: 'The script returned ' + value };`;
}

/** Replaces the answer with what the code makes of it. */
export const transformOf = (code: string) => `${said}
const transformed = ((output, context) => { ${bodyOf(code)}
})(said, { vars: row, prompt: '' });
answer = typeof transformed === 'string' ? transformed : (JSON.stringify(transformed) ?? '');`;

/** Makes other variables of those of a row. A file gets them as `output`. */
export const transformVarsOf = (code: string, uuid: string) => `
const made = ((vars, context) => { const output = vars; ${bodyOf(code)}
})(row, { vars: row, prompt: {}, uuid: ${JSON.stringify(uuid)} });
return JSON.stringify(made) ?? 'null';`;

export const containsJson = `const ends = { '{': '}', '[': ']' };
for (let at = 0; at < answer.length; at += 1) {
  const end = ends[answer[at]];
  if (!end) continue;
  for (let to = answer.lastIndexOf(end); to > at; to = answer.lastIndexOf(end, to - 1)) {
    try { JSON.parse(answer.slice(at, to + 1)); return true; } catch {}
  }
}
return false;`;

/** Without the schemas of the tools, which differ between variants. */
export const validCalls = `toolCalls.length > 0 && toolCalls.every(({ arguments: written }) => {
  try {
    const value = JSON.parse(written);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch { return false; }
})`;

export const endsWith = (expected: string) => `answer.endsWith(String(${expected}))`;

const each = (method: 'every' | 'some', inCase: '' | '.toLowerCase()') => (expected: string) =>
  `${expected}.${method}((text) => answer${inCase}.includes(String(text)${inCase}))`;

/** Conditions of checks on a transformed answer, by promptfoo's names. `expected` is an expression. */
export const conditions: Readonly<Record<string, (expected: string) => string>> = {
  equals: (expected) => `answer.trim() === String(${expected}).trim()`,
  contains: (expected) => `answer.includes(String(${expected}))`,
  icontains: (expected) => `answer.toLowerCase().includes(String(${expected}).toLowerCase())`,
  'contains-all': each('every', ''),
  'contains-any': each('some', ''),
  'icontains-all': each('every', '.toLowerCase()'),
  'icontains-any': each('some', '.toLowerCase()'),
  'starts-with': (expected) => `answer.startsWith(String(${expected}))`,
  'ends-with': endsWith,
  regex: (expected) => `new RegExp(${expected}).test(answer)`,
};
