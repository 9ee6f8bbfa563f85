import type { PagedPart } from './document-writer.ts';
import type { PdfLine } from './pdf-lines.ts';

/** Puts the lines of a paragraph together again. */
export interface LineJoiner {
  /** One part for each page that the lines stand on. */
  join(lines: readonly PdfLine[]): PagedPart[];
}

const brokenEnd = /([\p{L}\p{N}]+)[-\u2010\u00ad]$/u;
const smallBeginning = /^\p{Ll}[\p{L}\p{N}]*/u;
const endsWithoutSpaces = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{P}]$/u;
const beginsWithoutSpaces = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;

/**
 * Looks at all lines of a document first: a word that has its hyphen elsewhere, within a line, keeps it where a line ends at it.
 */
export function createLineJoiner(all: readonly PdfLine[]): LineJoiner {
  const hyphenated = new Set<string>();
  for (const { text } of all) {
    for (const [word] of text.matchAll(/[\p{L}\p{N}]+[-\u2010][\p{L}\p{N}]+/gu))
      hyphenated.add(word.replace('\u2010', '-').toLowerCase());
  }

  /** What of the first line stays, and what joins it to the second. */
  function jointOf(text: string, next: string): { readonly kept: string; readonly joint: string } {
    const end = brokenEnd.exec(text)?.[1];
    const beginning = smallBeginning.exec(next)?.[0];
    if (end && beginning) {
      const isOwnHyphen = end.length === 1 || hyphenated.has(`${end}-${beginning}`.toLowerCase());
      return { kept: isOwnHyphen ? text : text.slice(0, -1), joint: '' };
    }
    const hasNoSpaces = endsWithoutSpaces.test(text) && beginsWithoutSpaces.test(next);
    return { kept: text, joint: hasNoSpaces ? '' : ' ' };
  }

  return {
    join(lines) {
      const parts: { page: number; text: string; joint: string }[] = [];
      let joint = '';
      for (const [index, { page, text }] of lines.entries()) {
        const next = lines[index + 1]?.text ?? '';
        const { kept, joint: following } = jointOf(text, next);
        const last = parts.at(-1);
        if (last?.page === page) last.text += joint + kept;
        else parts.push({ page, text: kept, joint });
        joint = following;
      }
      return parts;
    },
  };
}
