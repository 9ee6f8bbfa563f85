/** Conditions of other programs that no kind of check has, as JavaScript for the sandbox of checks. */

/** All ways to write the same JSON are equal. */
export const equalJson = (expected: string) => `
const sorted = (value) => Array.isArray(value) ? value.map(sorted)
  : value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : value;
const read = (value) => { try { return JSON.parse(value); } catch { return value; } };
const text = (value) => JSON.stringify(sorted(value));
return [${expected}].flat().some((one) => text(read(answer)) === text(typeof one === 'string' ? read(one) : one));`;

export const containsAll = (expected: string, ignoreCase: boolean) => containsList(expected, ignoreCase, 'every');
export const containsAny = (expected: string, ignoreCase: boolean) => containsList(expected, ignoreCase, 'some');

function containsList(expected: string, ignoreCase: boolean, method: 'every' | 'some'): string {
  const inCase = ignoreCase ? '.toLowerCase()' : '';
  return `[${expected}].flat().${method}((text) => answer${inCase}.includes(String(text)${inCase}))`;
}

export const startsWith = (expected: string) => `[${expected}].flat().some((text) => answer.startsWith(text))`;
export const endsWith = (expected: string) => `answer.endsWith(${expected})`;

/** A pattern in JavaScript's syntax, as promptfoo has it. */
export const matchesPattern = (expected: string) => `new RegExp(${expected}).test(answer)`;

export const containsJson = `
for (let start = 0; start < answer.length; start += 1) {
  if (answer[start] !== '{' && answer[start] !== '[') continue;
  for (let end = answer.length; end > start; end -= 1) {
    if (answer[end - 1] !== '}' && answer[end - 1] !== ']') continue;
    try { JSON.parse(answer.slice(start, end)); return true; } catch {}
  }
}
return false;`;

const distance = `
const distance = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
};`;

export const levenshtein = (expected: string, max: number) =>
  `${distance}\nreturn distance(answer, ${expected}) <= ${max};`;

/** Similarity by edits, from 0 to 1. */
export const fuzzySimilarity = (expected: string, threshold: number) => `${distance}
const expected = ${expected};
const longest = Math.max(answer.length, expected.length);
const score = longest === 0 ? 1 : 1 - distance(answer, expected) / longest;
return { pass: score >= ${threshold}, score };`;

const words = `const words = (text) => text.toLowerCase().split(/[^\\p{L}\\p{N}]+/u).filter((word) => word !== '');`;

/** ROUGE-N: the F1 of runs of words. */
export const rougeN = (expected: string, n: number, threshold: number) => `${words}
const runs = (text) => {
  const list = words(text);
  const found = new Map();
  for (let index = 0; index + ${n} <= list.length; index += 1) {
    const run = list.slice(index, index + ${n}).join(' ');
    found.set(run, (found.get(run) ?? 0) + 1);
  }
  return found;
};
const [one, other] = [runs(answer), runs(${expected})];
const total = (found) => [...found.values()].reduce((sum, count) => sum + count, 0);
let common = 0;
for (const [run, count] of one) common += Math.min(count, other.get(run) ?? 0);
const score = common === 0 ? 0 : (2 * common) / (total(one) + total(other));
return { pass: score >= ${threshold}, score };`;

/** ROUGE-L: the F1 of the longest common subsequence of words. */
export const rougeL = (expected: string, threshold: number) => `${words}
const [one, other] = [words(answer), words(${expected})];
let lengths = new Array(other.length + 1).fill(0);
for (const word of one) {
  const next = [0];
  for (let j = 1; j <= other.length; j += 1) {
    next[j] = word === other[j - 1] ? lengths[j - 1] + 1 : Math.max(lengths[j], next[j - 1]);
  }
  lengths = next;
}
const common = lengths[other.length];
const score = common === 0 ? 0 : (2 * common) / (one.length + other.length);
return { pass: score >= ${threshold}, score };`;

/** Without case, punctuation and articles, one contains the other: the fuzzy match of OpenAI's legacy evals. */
export const fuzzyMatch = (expected: string) => `
const normal = (text) => text.toLowerCase().replace(/[!-/:-@[-\`{-~]/g, '').replace(/\\b(a|an|the)\\b/g, ' ').split(/\\s+/).filter((word) => word !== '').join(' ');
const given = normal(answer);
return [${expected}].flat().map(normal).some((one) => given === '' || one === '' ? given === one : given.includes(one) || one.includes(given));`;

/** Code of promptfoo, with its names. A number is a score that passes from the threshold on. */
export function promptfooScript(code: string, threshold: number | null): string {
  const isBody =
    /(?:^|[\s;{])return\b/.test(code) && (code.includes('\n') || /^\s*(?:return|const|let|var|if)\b/.test(code));
  const body = isBody ? code : `return (${code}\n);`;
  return `
const result = ((output, context) => {
${body}
})(answer, { vars: row });
const limit = ${threshold === null ? 'null' : String(threshold)};
if (typeof result === 'number') return { pass: limit === null ? result > 0 : result >= limit, score: Math.min(1, Math.max(0, result)) };
return typeof result === 'boolean' || typeof result === 'object' ? result : Boolean(result);`;
}

/** Runs code that is in a column. */
export const scriptInColumn = (expected: string) =>
  `new Function('answer', 'row', 'toolCalls', 'latencyMs', 'cost', ${expected})(answer, row, toolCalls, latencyMs, cost)`;
