import type { ReadDocument } from './document-writer.ts';
import type { ParsedSource, Passage, SourcePage } from './parsed-source.ts';

/**
 * A document in transfer between processes. A large file has 100,000 passages: copying that many objects, or their texts, which are
 * parts of the document's own text, would block the host. The document's text comes in parts.
 */
export interface PackedDocument {
  /** Three numbers per page. */
  readonly pages: Int32Array | null;
  /** Five numbers per passage: start, end, page (0 for none), tokens, index of its heading in `headings` (-1 for none). */
  readonly passages: Int32Array;
  readonly headings: readonly string[];
}

const numbersOfPage = 3;
const numbersOfPassage = 5;

/** Receiving more than this at once would block the host noticeably. */
const charactersOfPart = 1_000_000;

/** The text in parts. */
export function* textParts(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += charactersOfPart) yield text.slice(start, start + charactersOfPart);
}

export function packDocument({ pages, passages }: ReadDocument): PackedDocument {
  const spans = new Int32Array(passages.length * numbersOfPassage);
  const headings: string[] = [];
  let pageIndex = 0;
  for (const [index, { start, end, tokens, heading }] of passages.entries()) {
    while (pages && pageIndex < pages.length - 1 && pages[pageIndex + 1]!.start <= start) pageIndex += 1;
    if (heading !== null && headings.at(-1) !== heading) headings.push(heading);
    const page = pages?.[pageIndex]?.page ?? 0;
    spans.set([start, end, page, tokens, heading === null ? -1 : headings.length - 1], index * numbersOfPassage);
  }
  const packedPages = pages && Int32Array.from(pages.flatMap(({ page, start, end }) => [page, start, end]));
  return { pages: packedPages, passages: spans, headings };
}

function unpackPages(numbers: Int32Array): SourcePage[] {
  return Array.from({ length: numbers.length / numbersOfPage }, (_, index) => {
    const [page = 0, start = 0, end = 0] = numbers.subarray(index * numbersOfPage, (index + 1) * numbersOfPage);
    return { page, start, end };
  });
}

/** The passages' texts are parts of the document's text: V8 keeps them as such, without copying. */
export function unpackDocument(text: string, { pages, passages, headings }: PackedDocument): ParsedSource {
  const unpacked = Array.from({ length: passages.length / numbersOfPassage }, (_, ordinal): Passage => {
    const at = ordinal * numbersOfPassage;
    const start = passages[at]!;
    const end = passages[at + 1]!;
    const page = passages[at + 2]!;
    const heading = headings[passages[at + 4]!] ?? null;
    return {
      ordinal,
      text: text.slice(start, end),
      start,
      end,
      page: page === 0 ? null : page,
      heading,
      tokens: passages[at + 3]!,
    };
  });
  return { text, pages: pages && unpackPages(pages), passages: unpacked };
}
