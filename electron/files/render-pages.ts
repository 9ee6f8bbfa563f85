import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as canvasPackage from '@napi-rs/canvas';
import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { openPdf } from '../knowledge/parsing/open-pdf.ts';
import { SourceFailure } from '../knowledge/parsing/parsed-source.ts';

export interface PagesToRender {
  /** Of the PDF. */
  readonly path: string;
  /** Numbers of pages, from 1, and the path for the image of each. */
  readonly pages: readonly { readonly number: number; readonly path: string }[];
  /** Pixels of the longer side. */
  readonly pixels: number;
}

export interface RenderedPage {
  readonly width: number;
  readonly height: number;
}

/** Renders pages in the processes that read sources. */
export interface PageRenderer {
  /** Rejects with an `AppError` whose message is the reason, or with an `AbortError`. */
  renderPages(pages: PagesToRender, options: { readonly signal: AbortSignal }): Promise<RenderedPage[]>;
}

/** JPEG, because every provider takes it. Letters stay sharp at this quality. */
const jpegQuality = 85;

/** Of a canvas that a page draws into. A letter that is scanned at 600 dpi has 35 million. */
const maxCanvasPixels = 50_000_000;

interface CanvasAndContext {
  canvas: canvasPackage.Canvas | null;
  context: canvasPackage.SKRSContext2D | null;
}

type CanvasModule = typeof canvasPackage;

async function loadCanvas(): Promise<CanvasModule> {
  let canvas: CanvasModule;
  try {
    canvas = await import('@napi-rs/canvas');
  } catch {
    throw new SourceFailure("This system can't render pages. Send the PDF as a file or as text.");
  }
  // PDF.js looks for them among the globals.
  const { DOMMatrix, ImageData, Path2D } = canvas;
  Object.assign(globalThis, { DOMMatrix, ImageData, Path2D });
  return canvas;
}

function createCanvasFactory({ createCanvas }: CanvasModule) {
  return class CanvasFactory {
    create(width: number, height: number): CanvasAndContext {
      if (width * height > maxCanvasPixels)
        throw new SourceFailure('A page of the PDF has a graphic that is too large.');
      const canvas = createCanvas(width, height);
      return { canvas, context: canvas.getContext('2d') };
    }

    reset({ canvas }: CanvasAndContext, width: number, height: number): void {
      if (width * height > maxCanvasPixels)
        throw new SourceFailure('A page of the PDF has a graphic that is too large.');
      if (canvas) Object.assign(canvas, { width, height });
    }

    destroy(drawn: CanvasAndContext): void {
      drawn.canvas = null;
      drawn.context = null;
    }
  };
}

/** The folders of `pdfjs-dist` with what PDFs need but don't contain: standard fonts, character maps, decoders of scans. */
const dataFolders: Readonly<Record<string, string>> = {
  cMapUrl: 'cmaps',
  standardFontDataUrl: 'standard_fonts',
  wasmUrl: 'wasm',
  iccUrl: 'iccs',
};

class DataFactory {
  readonly #directory = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));

  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    // The name comes from PDF.js, but the PDF can choose the one of a character map.
    if (!/^[\w-]+(?:\.[\w-]+)?$/.test(filename)) throw new Error(`There is no file ${filename}`);
    return Uint8Array.from(await readFile(join(this.#directory, dataFolders[kind]!, filename)));
  }
}

/** An image as PDF.js passes it to the code that draws it. */
interface DecodedImage {
  kind?: number;
  width: number;
  height: number;
  data?: Uint8Array | Uint8ClampedArray;
}

/** The objects of a page, or those that pages share. Fonts are among them. */
interface PageObjects {
  resolve(id: string, data: DecodedImage | null): void;
}

/** PDF.js's number for three bytes a pixel, and for four. */
const rgb = 2;
const rgba = 3;

function toRgba(image: DecodedImage): DecodedImage {
  const { kind, width, height, data } = image;
  if (kind !== rgb || !data || data.length < width * height * 3) return image;
  const wide = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; to < wide.length; from += 3, to += 4) {
    wide[to] = data[from]!;
    wide[to + 1] = data[from + 1]!;
    wide[to + 2] = data[from + 2]!;
  }
  return { ...image, kind: rgba, data: wide };
}

/**
 * PDF.js leaves out images that it can't decode; `onBroken` learns of them. Images get four bytes a pixel, because PDF.js draws those
 * with three in a time that is quadratic: 40 seconds for a scan at 600 dpi.
 */
function watchImages(objects: PageObjects, onBroken: () => void): void {
  const resolve = objects.resolve.bind(objects);
  objects.resolve = (id, data) => {
    if (data === null && id.includes('img_')) onBroken();
    resolve(id, data && toRgba(data));
  };
}

async function renderPage(
  document: PDFDocumentProxy,
  number: number,
  pixels: number,
  { createCanvas }: CanvasModule,
): Promise<canvasPackage.Canvas> {
  const page = await document.getPage(number);
  let isBroken = false;
  for (const objects of [page.objs, page.commonObjs] as PageObjects[])
    watchImages(objects, () => {
      isBroken = true;
    });
  const { width, height } = page.getViewport({ scale: 1 });
  const longer = Math.max(width, height);
  if (!(width > 0 && height > 0 && Number.isFinite(longer)))
    throw new SourceFailure(`Page ${number} of the PDF has no size.`);
  const viewport = page.getViewport({ scale: pixels / longer });
  const canvas = createCanvas(Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height)));
  // The types are those of a browser's canvas.
  await page.render({ canvas: canvas as never, viewport, background: 'white' }).promise;
  page.cleanup();
  if (isBroken) throw new SourceFailure(`Page ${number} of the PDF has an image that can't be read.`);
  return canvas;
}

function unrenderable(number: number, cause: unknown): SourceFailure {
  if (cause instanceof SourceFailure) return cause;
  return new SourceFailure(`Page ${number} of the PDF is damaged. Send the PDF as a file or as text.`);
}

/** Runs in the process that reads files. Writes a JPEG image of each page. Throws `SourceFailure` with the reason. */
export async function renderPages({ path, pages, pixels }: PagesToRender): Promise<RenderedPage[]> {
  const canvasModule = await loadCanvas();
  const addresses = Object.fromEntries(Object.keys(dataFolders).map((kind) => [kind, 'x/']));
  // Not at the start: it loads the canvas, which texts don't need.
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const document = await openPdf(pdfjs, Uint8Array.from(await readFile(path)), {
    ...addresses,
    CanvasFactory: createCanvasFactory(canvasModule),
    BinaryDataFactory: DataFactory,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // A page that lacks something would be described wrongly.
    stopAtErrors: true,
  });
  try {
    const rendered: RenderedPage[] = [];
    for (const { number, path: target } of pages) {
      const canvas = await renderPage(document, number, pixels, canvasModule).catch((error: unknown) => {
        throw unrenderable(number, error);
      });
      await writeFile(target, await canvas.encode('jpeg', jpegQuality), { mode: 0o600, flag: 'wx', flush: true });
      rendered.push({ width: canvas.width, height: canvas.height });
    }
    return rendered;
  } finally {
    await document.loadingTask.destroy();
  }
}
