import type { PdfLine } from './pdf-lines.ts';

/** Headers and footers stand in this part of a page, at its top and its bottom. */
const margin = 0.1;
/** A line is one of them when it returns on so many pages: not on all, as left and right pages may differ, and chapters. */
function leastPages(pages: number): number {
  return pages <= 3 ? 2 : Math.max(3, Math.ceil(pages * 0.3));
}

const pageNumber =
  /^[\s\p{P}]*(?:page|seite|pagina|página|s\.|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:\/|of|von|de|sur)\s*\d{1,4})?[\s\p{P}]*$/iu;

const isInMargin = ({ place }: PdfLine) => place < margin || place > 1 - margin;

/** Without its digits, as the page's number changes from page to page, and told apart by whether it stands above or below. */
const nameOf = (line: PdfLine) => `${line.place < 0.5 ? 'below' : 'above'} ${line.text.replaceAll(/\d+/g, '#')}`;

/** The lines without running headers, footers and page numbers, which would stand within sentences that run over pages. */
export function withoutRunningLines(lines: readonly PdfLine[], pages: number): PdfLine[] {
  const pagesOf = new Map<string, Set<number>>();
  for (const line of lines) {
    if (!isInMargin(line)) continue;
    const name = nameOf(line);
    pagesOf.set(name, (pagesOf.get(name) ?? new Set()).add(line.page));
  }
  const isRunning = (line: PdfLine) => {
    if (!isInMargin(line)) return false;
    const returns = pagesOf.get(nameOf(line))?.size ?? 0;
    return returns >= leastPages(pages) || (pages > 1 && pageNumber.test(line.text));
  };
  return lines.filter((line) => !isRunning(line));
}
