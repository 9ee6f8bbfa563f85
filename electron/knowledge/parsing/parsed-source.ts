import type { StartChild } from '../../child-process/child.ts';

/** Why a file can't be read. The message is shown to the user and says what to do, if anything can be done. */
export class SourceFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceFailure';
  }
}

/** Characters of extracted text: twice the largest accepted file, because tables repeat their column names. */
export const maxTextCharacters = 100 * 1024 * 1024;

export function tooMuchText(): SourceFailure {
  const millions = Math.round(maxTextCharacters / 1e6);
  return new SourceFailure(
    `The file unpacks to more than ${millions} million characters of text. Split it into smaller files.`,
  );
}

/**
 * The parser searches its stack of open elements at every closing tag, so time grows with depth. Old pages with unclosed
 * tags reach some thousands.
 */
const maxElementDepth = 15_000;

/** Call it with every start and end tag; throws when the elements are nested too deep. */
export function createDepthLimit(format: string): { open(): void; close(): void } {
  let depth = 0;
  return {
    open() {
      depth += 1;
      if (depth > maxElementDepth) {
        const levels = maxElementDepth.toLocaleString('en');
        throw new SourceFailure(`${format} is nested more than ${levels} levels deep. Simplify it and add it again.`);
      }
    },
    close() {
      depth -= 1;
    },
  };
}

/** Every kind of file that can be read, by its content. */
export const sourceMediaTypes = [
  'text/plain',
  'text/markdown',
  'text/html',
  'text/csv',
  'application/json',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const;

export type SourceMediaType = (typeof sourceMediaTypes)[number];

/** A file on disk; `fileName` is the user's name of it, the path may have any name. */
export interface SourceFile {
  readonly path: string;
  readonly fileName: string;
}

/** The range of one page in the extracted text; `page` counts from 1. */
export interface SourcePage {
  readonly page: number;
  readonly start: number;
  readonly end: number;
}

/** A chunk of the extracted text, the unit of search and citation: `text` is the extracted text from `start` to `end`. */
export interface Passage {
  /** Index among the source's passages, from 0. */
  readonly ordinal: number;
  readonly text: string;
  /** Offsets into the extracted text, in UTF-16 units; neighbours may overlap. */
  readonly start: number;
  readonly end: number;
  /** The page on which the passage starts, from 1; `null` if the format has no pages. */
  readonly page: number | null;
  /** The headings above the passage, the outermost first, joined by ` › `; `null` outside of any. At most 200 characters. */
  readonly heading: string | null;
  /** Approximate tokens of the text for the on-device embeddings. Together with its heading a passage stays below their 256. */
  readonly tokens: number;
}

export interface ParsedSource {
  /**
   * The text that is stored and shown when a citation is opened: well-formed Unicode without NUL, lines end with `
   * `.
   */
  readonly text: string;
  /** In order and without gaps; `null` if the format has no pages. */
  readonly pages: readonly SourcePage[] | null;
  /** In order; never empty, because a source without text fails. */
  readonly passages: readonly Passage[];
}

export interface ReadSourceOptions {
  readonly signal: AbortSignal;
  /** Reports the completed share from time to time, from 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

/** Reads files in separate processes, two files at a time. */
export interface SourceReader {
  /**
   * Rejects with an `AppError` whose message is the reason (encrypted, scanned, empty, damaged, too large when unpacked, took too
   * long), or with an `AbortError` after an abort.
   */
  readSource(
    source: SourceFile & { readonly mediaType: SourceMediaType },
    options: ReadSourceOptions,
  ): Promise<ParsedSource>;
  /** Ends the processes; files being read reject with an `AbortError`. */
  close(): Promise<void>;
}

export interface SourceReaderOptions {
  /** Time limit for one file; 120 by default. */
  readonly deadlineSeconds?: number;
  /** Memory limit of each process; 1024 by default. */
  readonly memoryMegabytes?: number;
  /** Starts the processes; Node's `fork` by default. */
  readonly startChild?: StartChild;
}
