import { createRandom, type SeededRandom, wordOfRank } from '../support/text-writer.ts';

/** Answers of one kind each: what models usually write, and one block that never ends. */
export const kinds = ['mixed', 'paragraph', 'code', 'table', 'list', 'quote'] as const;
export type TextKind = (typeof kinds)[number];

function words(random: SeededRandom, count: number): string[] {
  return Array.from({ length: count }, () => wordOfRank(Math.floor(random.next() ** 3 * 4000)));
}

/** A sentence with the marks that models like: bold, code, emphasis and links. */
function sentence(random: SeededRandom): string {
  const parts = words(random, 8 + Math.floor(random.next() * 12));
  const marked = Math.floor(random.next() * parts.length);
  const styles = ['**w**', '`w`', '*w*', '[w](https://example.com/w)', 'w', 'w', 'w', 'w'];
  parts[marked] = random.pick(styles).replaceAll('w', parts[marked]!);
  const text = parts.join(' ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function sentences(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, () => sentence(random)).join(' ');
}

function codeLine(random: SeededRandom): string {
  const [name = '', argument = ''] = words(random, 2);
  const indent = ' '.repeat(2 * Math.floor(random.next() * 4));
  return `${indent}const ${name} = await read({ ${argument}: ${Math.floor(random.next() * 1000)} }, "${argument}");`;
}

function tableRow(random: SeededRandom): string {
  const [first, second, third] = words(random, 3);
  return `| ${first} ${second} | **${third}** | ${Math.floor(random.next() * 10_000)} | \`${second}\` |`;
}

const tableHead = '| Name | State | Count | Code |\n| --- | --- | ---: | --- |';

function listItem(random: SeededRandom): string {
  const depth = Math.floor(random.next() * 4);
  return `${'  '.repeat(depth)}- ${sentence(random)}`;
}

function lines(count: number, line: () => string): string {
  return Array.from({ length: count }, line).join('\n');
}

/** One block of a usual answer. */
function block(random: SeededRandom): string {
  const blocks = [
    () => `## ${words(random, 4).join(' ')}`,
    () => sentences(random, 3),
    () => sentences(random, 4),
    () => lines(5, () => `- ${sentence(random)}`),
    () => lines(6, () => listItem(random)),
    () => `1. ${sentence(random)}\n2. ${sentence(random)}\n3. ${sentence(random)}`,
    () => `\`\`\`ts\n${lines(12, () => codeLine(random))}\n\`\`\``,
    () => `${tableHead}\n${lines(6, () => tableRow(random))}`,
    () => `> ${sentences(random, 2)}`,
  ];
  return random.pick(blocks)();
}

const writers: Readonly<Record<TextKind, { start: string; next(random: SeededRandom): string }>> = {
  mixed: { start: '', next: (random) => `${block(random)}\n\n` },
  paragraph: { start: '', next: (random) => `${sentence(random)} ` },
  code: { start: '```ts\n', next: (random) => `${codeLine(random)}\n` },
  table: { start: `${tableHead}\n`, next: (random) => `${tableRow(random)}\n` },
  list: { start: '', next: (random) => `${listItem(random)}\n` },
  quote: { start: '', next: (random) => `> ${sentence(random)}\n` },
};

/** The same text for the same kind and length in characters. */
export function textOf(kind: TextKind, length: number): string {
  const random = createRandom(20_261_122);
  const { start, next } = writers[kind];
  let text = start;
  while (text.length < length) text += next(random);
  return text.slice(0, length);
}
