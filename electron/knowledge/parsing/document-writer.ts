import { createChunker, type BlockKind } from '../chunking/chunker.ts';
import type { ChunkedPassage } from '../chunking/passage-builder.ts';
import { maxTextCharacters, type SourcePage, tooMuchText } from './parsed-source.ts';
import { cleanText } from './text-encoding.ts';

/** Reports the completed share of the work, from 0 to 1. */
export type ReportProgress = (fraction: number) => void;

/** A parsed document. */
export interface ReadDocument {
  readonly text: string;
  readonly pages: readonly SourcePage[] | null;
  readonly passages: readonly ChunkedPassage[];
}

/** The part of a paragraph on one page; `joint` connects it to the previous part. */
export interface PagedPart {
  readonly page: number;
  readonly text: string;
  readonly joint: string;
}

/** Receives a document block by block, writes its text and chunks it. All parsers except those of plain formats use it. */
export interface DocumentWriter {
  /** `level` 0 is the document's title. */
  heading(level: number, text: string): void;
  /** A paragraph, with a blank line before it. */
  paragraph(text: string): void;
  /** An item of a list, on a separate line. */
  item(text: string): void;
  /** Lines that belong together, such as a table or code, or more lines of the same block without a blank line before them. */
  lines(text: string, options?: { readonly areContinued?: boolean }): void;
  /** Starts a page, counted from 1; skipped pages are empty. */
  page(number: number): void;
  /** A paragraph that may span pages. */
  pagedParagraph(parts: readonly PagedPart[]): void;
  finish(): ReadDocument;
}

/** A text with the offsets of its pages. */
function createPagedText() {
  const parts: string[] = [];
  const pageStarts: { readonly page: number; readonly start: number }[] = [];
  let length = 0;

  function append(text: string): void {
    length += text.length;
    if (length > maxTextCharacters) throw tooMuchText();
    parts.push(text);
  }

  /** Writes the separator and returns the block's offset. No blank line separates items of a list. */
  function startBlock(separator: '\n' | '\n\n'): number {
    if (length > 0) append(separator);
    return length;
  }

  function page(number: number): void {
    for (let next = (pageStarts.at(-1)?.page ?? 0) + 1; next <= number; next += 1)
      pageStarts.push({ page: next, start: length });
  }

  function pages(): SourcePage[] | null {
    if (pageStarts.length === 0) return null;
    return pageStarts.map((own, index) => ({ ...own, end: pageStarts[index + 1]?.start ?? length }));
  }

  return { append, startBlock, page, finish: () => ({ text: parts.join(''), pages: pages() }) };
}

export function createDocumentWriter(): DocumentWriter {
  const chunker = createChunker();
  const { append, startBlock, page, finish } = createPagedText();
  let isAfterItem = false;

  function write(kind: BlockKind, text: string, separator: '\n' | '\n\n' = '\n\n'): void {
    const clean = kind === 'lines' ? cleanText(text).trimEnd() : cleanText(text).trim();
    if (clean.trim() === '') return;
    const start = startBlock(separator);
    append(clean);
    chunker.block(kind, start, clean);
  }

  return {
    heading(level, text) {
      const clean = cleanText(text).replace(/\s+/gu, ' ').trim();
      if (clean === '') return;
      const start = startBlock('\n\n');
      append(clean);
      chunker.heading(level, start, clean);
      isAfterItem = false;
    },
    paragraph(text) {
      write('prose', text);
      isAfterItem = false;
    },
    item(text) {
      write('prose', text, isAfterItem ? '\n' : '\n\n');
      isAfterItem = true;
    },
    lines(text, { areContinued = false } = {}) {
      write('lines', text, areContinued ? '\n' : '\n\n');
      isAfterItem = false;
    },
    page,
    pagedParagraph(pagedParts) {
      const start = startBlock('\n\n');
      let whole = '';
      for (const { page: number, text, joint } of pagedParts) {
        const separator = whole === '' ? '' : joint;
        append(separator);
        page(number);
        const clean = cleanText(text);
        append(clean);
        whole += separator + clean;
      }
      chunker.block('prose', start, whole);
      isAfterItem = false;
    },
    finish: () => ({ ...finish(), passages: chunker.finish() }),
  };
}
