import type { getDocument as openDocument, PDFDocumentProxy } from 'unpdf/pdfjs';
import { SourceFailure } from './parsed-source.ts';

/** PDF.js: the small build of `unpdf` for text, or the one of `pdfjs-dist`, whose types are the same but not equal. */
interface PdfJs {
  readonly getDocument: (options: never) => { readonly promise: Promise<unknown> };
  readonly InvalidPDFException: abstract new (...values: never[]) => object;
  readonly PasswordException: abstract new (...values: never[]) => object;
}

type DocumentOptions = Exclude<Parameters<typeof openDocument>[0], undefined>;

/** Throws `SourceFailure` for a PDF that is encrypted or damaged. Nothing is fetched, and no script of the PDF runs. */
export async function openPdf(
  { getDocument, InvalidPDFException, PasswordException }: PdfJs,
  data: Uint8Array,
  options: DocumentOptions,
): Promise<PDFDocumentProxy> {
  try {
    const all = { data, verbosity: 0, disableFontFace: true, useSystemFonts: false, ...options };
    return (await getDocument(all as never).promise) as PDFDocumentProxy;
  } catch (error) {
    if (error instanceof PasswordException) {
      throw new SourceFailure('The PDF is encrypted. Save it without a password and add it again.');
    }
    if (error instanceof InvalidPDFException) throw new SourceFailure('The PDF is damaged or incomplete.');
    throw error;
  }
}
