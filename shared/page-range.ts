/** The most pages of one PDF that are sent as images: no API takes more images without splitting the request. */
export const maxPageImages = 100;

const rangePattern = /^ *(\d{1,6})(?: *- *(\d{1,6}))? *$/;

/** The numbers of the pages, from 1, or why the range is wrong, as the end of a sentence. */
export type ChosenPages = { readonly pages: readonly number[] } | { readonly issue: string };

/** Reads ranges such as `1-3, 7`; null for text that isn't one. */
function readRanges(text: string): [first: number, last: number][] | null {
  const ranges: [number, number][] = [];
  for (const part of text.split(',')) {
    const match = rangePattern.exec(part);
    const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (!match || first === 0 || last < first) return null;
    ranges.push([first, last]);
  }
  return ranges;
}

/** The pages that a range names, in its order and each once. An empty range means all pages. */
export function choosePages(range: string, pageCount: number): ChosenPages {
  // A text of megabytes is no range.
  const ranges = range.length > 1000 ? null : range.trim() === '' ? [[1, pageCount] as const] : readRanges(range);
  if (ranges === null) return { issue: 'must name pages, such as 1-3, 7' };
  const pages = new Set<number>();
  for (const [first, last] of ranges) {
    if (last > pageCount) return { issue: `names page ${last}, and the PDF has ${pageCount}` };
    for (let page = first; page <= last; page += 1) {
      pages.add(page);
      if (pages.size > maxPageImages)
        return { issue: `names more than ${maxPageImages} pages. Choose some, such as 1-${maxPageImages}` };
    }
  }
  return { pages: [...pages] };
}
