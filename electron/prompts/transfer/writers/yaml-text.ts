import { Scalar, stringify } from 'yaml';

/** Whether every YAML parser reads the text exactly from a block: no line starts with white space, no first or last line is empty. */
function isBlockText(text: string): boolean {
  const lines = text.split('\n');
  const isPreserved = (line: string) => line === '' || /^[^\s\p{C}][^\p{C}]*$/u.test(line);
  return lines[0] !== '' && lines.at(-1) !== '' && lines.every(isPreserved);
}

function scalar(text: string): unknown {
  if (!/[\n\p{C}]|^\s|\s$/u.test(text)) return text;
  const node = new Scalar(text);
  node.type = isBlockText(text) ? 'BLOCK_LITERAL' : 'QUOTE_DOUBLE';
  return node;
}

function prepared(value: unknown): unknown {
  if (typeof value === 'string') return scalar(value);
  if (Array.isArray(value)) return value.map(prepared);
  if (typeof value !== 'object' || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, item]) => [scalar(key), prepared(item)]));
}

/** A YAML document. Lines are never folded, and multi-line texts stay readable if that is exact. */
export function yamlText(fields: ReadonlyMap<string, unknown>): string {
  return stringify(prepared(fields), { lineWidth: 0, aliasDuplicateObjects: false });
}
