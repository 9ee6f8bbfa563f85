/** The part of a Markdown tree that matters here. */
interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

const prefix = '#citation-';
/** `[1]`, and `[1, 3]` as some models write it. */
const pattern = /\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g;

/** The number that a link made by `remarkCitations` stands for; null for every other link. */
export function citationNumber(href: string | undefined): number | null {
  return href?.startsWith(prefix) ? Number(href.slice(prefix.length)) : null;
}

function link(number: string): Node {
  return { type: 'link', url: `${prefix}${number}`, children: [{ type: 'text', value: `[${number}]` }] };
}

function piecesOf(value: string): Node[] {
  const pieces: Node[] = [];
  let end = 0;
  for (const match of value.matchAll(pattern)) {
    if (match.index > end) pieces.push({ type: 'text', value: value.slice(end, match.index) });
    pieces.push(...match[1]!.split(/\s*,\s*/).map(link));
    end = match.index + match[0].length;
  }
  if (end < value.length) pieces.push({ type: 'text', value: value.slice(end) });
  return pieces;
}

function mark(node: Node): void {
  if (!node.children || node.type === 'link' || node.type === 'linkReference') return;
  node.children = node.children.flatMap((child) => {
    if (child.type === 'text' && child.value?.includes('[')) return piecesOf(child.value);
    mark(child);
    return [child];
  });
}

/** Makes links of the marks `[1]` by which an answer names its passages, so that they can be pressed. Code stays as it is. */
export function remarkCitations(): (tree: Node) => void {
  return mark;
}
