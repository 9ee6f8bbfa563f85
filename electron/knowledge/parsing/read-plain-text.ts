import { createChunker } from '../chunking/chunker.ts';
import type { ReadDocument } from './document-writer.ts';

/** Lines up to here may be one paragraph that an editor broke; longer ones are paragraphs of their own. */
const longestBrokenLine = 120;

/** Whether the lines of a paragraph were broken to a width, rather than each standing for itself as in a log or a poem. */
function isBroken(lines: readonly string[]): boolean {
  const widths = lines.slice(0, -1).map((line) => line.length);
  const widest = Math.max(...widths);
  if (widest > longestBrokenLine || widest < 40) return false;
  const isEven = widths.filter((width) => width >= widest * 0.75).length >= widths.length * 0.75;
  const followers = lines.slice(1);
  return isEven && followers.filter((line) => /^\s*\p{Ll}/u.test(line)).length >= followers.length * 0.25;
}

/** More lines than these are not looked at to tell how the paragraph is written. */
const linesToJudge = 40;

/** Plain text as it is, with blank lines between its paragraphs. */
export function readPlainText(text: string): ReadDocument {
  const cutter = createChunker();
  const blankLine = /\n[^\S\n]*\n\s*/g;
  for (let start = 0; start < text.length;) {
    blankLine.lastIndex = start;
    const next = blankLine.exec(text);
    const end = next ? next.index : text.length;
    const lines = text.slice(start, Math.min(end, start + linesToJudge * longestBrokenLine)).split('\n', linesToJudge);
    const isProse = lines.length === 1 || isBroken(lines);
    cutter.block(isProse ? 'prose' : 'lines', start, text.slice(start, end));
    start = next ? next.index + next[0].length : text.length;
  }
  return { text, pages: null, passages: cutter.finish() };
}
