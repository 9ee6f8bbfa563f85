import { open, readFile } from 'node:fs/promises';
import type { FileMediaType } from '../../shared/contract/files.ts';
import { SourceFailure } from '../knowledge/parsing/parsed-source.ts';
import { countPages } from '../knowledge/parsing/read-pdf.ts';
import { DamagedImage, type ImageContent, readGif, readJpeg, readPng, readWebp } from './image-content.ts';

export interface FileToInspect {
  readonly path: string;
  readonly mediaType: FileMediaType;
  /** The path for the content without metadata; null keeps the metadata. */
  readonly cleanPath: string | null;
}

export interface InspectedFile {
  readonly width: number | null;
  readonly height: number | null;
  readonly pages: number | null;
}

/** Inspects files in the processes that read sources. */
export interface FileInspector {
  /** Rejects with an `AppError` whose message is the reason, or with an `AbortError`. */
  inspectFile(file: FileToInspect, options: { readonly signal: AbortSignal }): Promise<InspectedFile>;
}

/** Max pixels of each side, as the longest of JPEG. Decoding a larger image needs gigabytes. */
const maxSide = 65_535;
const maxPixels = 500_000_000;

const readers: Partial<Record<FileMediaType, (bytes: Buffer) => ImageContent>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
  'image/gif': readGif,
};

function readImage(bytes: Buffer, read: (bytes: Buffer) => ImageContent): ImageContent {
  try {
    const image = read(bytes);
    requireSize(image);
    return image;
  } catch (error) {
    if (error instanceof DamagedImage) throw new SourceFailure(`The file is damaged: ${error.message}.`);
    if (error instanceof RangeError) throw new SourceFailure('The file is damaged: it ends too early.');
    throw error;
  }
}

function requireSize({ width, height }: ImageContent): void {
  const size = `${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels`;
  if (width === 0 || height === 0) throw new SourceFailure(`The image claims to have ${size}.`);
  if (Math.max(width, height) > maxSide || width * height > maxPixels)
    throw new SourceFailure(
      `The image claims to have ${size}. At most 500 million pixels and ${maxSide.toLocaleString('en')} on each side are accepted.`,
    );
}

async function writeSynced(path: string, bytes: Buffer): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(bytes);
  await file.sync();
}

/** Runs in the process that reads files. Throws `SourceFailure` with the reason. */
export async function inspectFile({ path, mediaType, cleanPath }: FileToInspect): Promise<InspectedFile> {
  const bytes = await readFile(path);
  const read = readers[mediaType];
  if (!read) return { width: null, height: null, pages: await countPages(Uint8Array.from(bytes)) };
  const image = readImage(bytes, read);
  if (cleanPath !== null) await writeSynced(cleanPath, image.bytes);
  return { width: image.width, height: image.height, pages: null };
}
