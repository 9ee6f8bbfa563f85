import { type ReadMap } from '../../prompts/transfer/bounded-values.ts';
import { kinds } from './promptfoo-assertions.ts';

/** `similar(0.8): text` of a column `__expected`; without a type it is the expected text. */
function assertionOfText(text: string): ReadMap {
  const match = /^\s*(not-)?([a-z-]+)(?:\(([\d.]+)\))?:\s*([\s\S]*)$/.exec(text);
  const type =
    match?.[2] === 'fn' || match?.[2] === 'eval' ? 'javascript' : match?.[2] === 'grade' ? 'llm-rubric' : match?.[2];
  const bare = /^\s*(not-)?(is-json|contains-json|is-refusal)\s*$/.exec(text);
  if (bare) return new Map([['type', bare[0].trim()]]);
  if (!match || type === undefined || !(Object.hasOwn(kinds, type) || type.includes('-')))
    return new Map([
      ['type', 'equals'],
      ['value', text],
    ]);
  return new Map<string, unknown>([
    ['type', `${match[1] ?? ''}${type}`],
    ['value', match[4]],
    ...(match[3] === undefined ? [] : [['threshold', Number(match[3])] as const]),
  ]);
}

/** A row of a table has values of variables beside columns that begin with two underscores. */
export const isTest = (map: ReadMap) =>
  ['vars', 'assert', 'options', 'description', 'provider', 'metadata', 'threshold'].some((key) => map.has(key));

/** They describe a row. */
const isIgnored = (column: string) => /^__(?:description$|metadata(?::|$))/.test(column);

export function rowTest(row: ReadMap): ReadMap {
  const test = new Map<string, unknown>();
  const vars = new Map([...row].filter(([key]) => !key.startsWith('__')));
  const texts = [...row]
    .filter(([key, value]) => /^__expected\d*$/.test(key) && value !== '' && value !== null)
    .map(([, value]) => String(value));
  test.set('vars', vars);
  test.set('assert', texts.map(assertionOfText));
  for (const [key, value] of row)
    if (key.startsWith('__') && !/^__expected\d*$/.test(key) && !isIgnored(key) && value !== '') test.set(key, value);
  return test;
}
