/** Values of promptfoo's tests: strings of CSV files as assertions, simple templates, and lists as combinations. */
import { isMap, plain, type ReadMap, valueText } from '../../prompts/transfer/bounded-values.ts';

/** The colon of `similar:cosine` belongs to the type; any other ends it. */
const withThreshold = /^(not-)?(similar:cosine(?=[(:]|$)|[a-z][a-z-]*)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?$/;
const code = /^(?:javascript|fn|eval):/;

/** Types that a cell may begin with; anything else is the expected text. */
const cellTypes = new Set([
  ...['contains', 'icontains', 'contains-all', 'contains-any', 'icontains-all', 'icontains-any', 'equals', 'regex'],
  ...['starts-with', 'ends-with', 'is-json', 'contains-json', 'is-refusal', 'similar', 'similar:cosine', 'latency'],
  ...['cost', 'levenshtein', 'rouge-n', 'moderation', 'llm-rubric', 'factuality', 'model-graded-closedqa', 'webhook'],
  ...['model-graded-factuality', 'answer-relevance', 'g-eval', 'word-count', 'is-sql', 'contains-sql', 'is-xml'],
  ...['contains-xml', 'is-html', 'contains-html', 'bleu', 'gleu', 'meteor', 'perplexity', 'perplexity-score'],
  ...['classifier', 'context-faithfulness', 'context-recall', 'context-relevance', 'guardrails', 'python', 'ruby'],
  ...['is-valid-openai-function-call', 'is-valid-openai-tools-call', 'select-best', 'human', 'search-rubric'],
]);

/** The assertion that a cell of `__expected` describes, as promptfoo reads it. */
export function assertionOfCell(cell: string): ReadMap {
  const prefix = code.exec(cell)?.[0];
  if (prefix !== undefined)
    return new Map([
      ['type', 'javascript'],
      ['value', cell.slice(prefix.length).trim()],
    ]);
  if (cell.startsWith('grade:'))
    return new Map([
      ['type', 'llm-rubric'],
      ['value', cell.slice('grade:'.length)],
    ]);
  const found = withThreshold.exec(cell);
  if (found === null || !cellTypes.has(found[2]!))
    return new Map([
      ['type', 'equals'],
      ['value', cell],
    ]);
  const [, not = '', type, threshold, value = ''] = found;
  return new Map<string, unknown>([
    ['type', `${not}${type}`],
    ['value', value.trim()],
    ...(threshold === undefined
      ? type === 'similar'
        ? [['threshold', 0.8] as const]
        : []
      : [['threshold', Number(threshold)] as const]),
  ]);
}

const simpleVariable = /\{\{-?\s*([\w.-]{1,200})\s*-?\}\}/g;

function valueAt(path: string, vars: Readonly<Record<string, unknown>>): string | null {
  if (Object.hasOwn(vars, path)) return valueText(vars[path]);
  let value: unknown = vars;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return null;
    value = (value as Record<string, unknown>)[part];
  }
  return valueText(value);
}

/** Replaces simple variables with the values of a test. Other templates stay as they are. */
export function rendered(value: unknown, vars: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string')
    return value.includes('{{')
      ? value.replaceAll(simpleVariable, (whole, path: string) => valueAt(path, vars) ?? whole)
      : value;
  if (Array.isArray(value)) return value.map((item) => rendered(item, vars));
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, rendered(item, vars)])) : value;
}

/** Lists of texts are alternatives: every combination of them is one test. */
export function* combinations(vars: ReadMap, isExpanded: boolean): Generator<Record<string, unknown>> {
  const alternatives = [...vars].map(([name, value]): readonly [string, readonly unknown[]] => {
    const isList = isExpanded && Array.isArray(value) && typeof value[0] === 'string';
    return [name, isList ? (value as unknown[]).map(plain) : [plain(value)]];
  });
  const positions = alternatives.map(() => 0);
  for (;;) {
    yield Object.fromEntries(alternatives.map(([name, values], index) => [name, values[positions[index]!]]));
    // The last variable changes first.
    let index = positions.length - 1;
    while (index >= 0 && positions[index]! + 1 >= alternatives[index]![1].length) positions[index--] = 0;
    if (index < 0) return;
    positions[index]! += 1;
  }
}
