import { crc32 } from 'node:zlib';

/**
 * Reads the size of an image and removes its metadata without decoding a pixel. Each pass visits every segment of the file once, so
 * its time is linear in the bytes, whatever sizes they claim.
 */

/** The content to store, and the size in its header. */
export interface ImageContent {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** The file doesn't have the structure of its format. The message completes "The file is damaged: ". */
export class DamagedImage extends Error {}

/** Ranges of a file to copy, with adjacent ones joined. */
class PartCopier {
  readonly #source: Buffer;
  readonly #parts: Buffer[] = [];
  #start = 0;
  #end = 0;

  constructor(source: Buffer) {
    this.#source = source;
  }

  copy(start: number, end: number): void {
    if (start !== this.#end) {
      this.#flush();
      this.#start = start;
    }
    this.#end = end;
  }

  insert(bytes: Buffer): void {
    this.#flush();
    this.#start = this.#end;
    this.#parts.push(bytes);
  }

  join(): Buffer {
    this.#flush();
    return Buffer.concat(this.#parts);
  }

  #flush(): void {
    if (this.#end > this.#start) this.#parts.push(this.#source.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const orientationTag = 0x0112;
const shortType = 3;

/** The rotation or mirroring in the TIFF header of EXIF, 1 to 8; 1 if it isn't readable. */
function orientationOf(tiff: Buffer): number {
  if (tiff.length < 14) return 1;
  const order = tiff.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return 1;
  const short = (offset: number) => (order === 'II' ? tiff.readUInt16LE(offset) : tiff.readUInt16BE(offset));
  const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return 1;
  const entries = short(directory);
  for (let entry = 0; entry < entries; entry += 1) {
    const offset = directory + 2 + entry * 12;
    if (offset + 12 > tiff.length) return 1;
    if (short(offset) !== orientationTag || short(offset + 2) !== shortType) continue;
    const value = short(offset + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** A TIFF header with nothing but an orientation. */
function orientationHeader(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(shortType, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}

const exifPrefix = Buffer.from('Exif\0\0', 'latin1');

/** Application segments that affect how the image looks: JFIF, colour profile, Adobe's colour transform. */
function isShownBy(marker: number, data: Buffer): boolean {
  if (marker === 0xe0) return true;
  if (marker === 0xe2) return data.subarray(0, 12).equals(Buffer.from('ICC_PROFILE\0', 'latin1'));
  return marker === 0xee;
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const isMetadata = (marker: number) => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;

/** The offset of the marker that ends the coded pixels after a scan header. */
function endOfScan(bytes: Buffer, from: number): number {
  let offset = from;
  while (offset + 1 < bytes.length) {
    if (bytes[offset] === 0xff) {
      const next = bytes[offset + 1]!;
      const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
      if (!isData) return offset;
    }
    offset += 1;
  }
  return bytes.length;
}

/** Drops everything after the end of the image: cameras put more images there, each with its own metadata. */
export function readJpeg(bytes: Buffer): ImageContent {
  const copier = new PartCopier(bytes);
  copier.copy(0, 2);
  let size: { width: number; height: number } | null = null;
  let offset = 2;
  while (offset + 4 <= bytes.length) {
    if (bytes[offset] !== 0xff) throw new DamagedImage('a segment of the JPEG has no marker');
    const marker = bytes[offset + 1]!;
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    if (marker === 0xd9) break;
    const end = offset + 2 + bytes.readUInt16BE(offset + 2);
    if (end > bytes.length || end < offset + 4) throw new DamagedImage('a segment of the JPEG is longer than the file');
    const data = bytes.subarray(offset + 4, end);
    if (isFrame(marker) && data.length >= 5) size ??= { height: data.readUInt16BE(1), width: data.readUInt16BE(3) };
    const next = marker === 0xda ? endOfScan(bytes, end) : end;
    if (!isMetadata(marker) || isShownBy(marker, data)) copier.copy(offset, next);
    else if (marker === 0xe1 && data.subarray(0, 6).equals(exifPrefix)) {
      const orientation = orientationOf(data.subarray(6));
      if (orientation !== 1) copier.insert(jpegOrientation(orientation));
    }
    offset = next;
  }
  if (size === null) throw new DamagedImage('the JPEG has no image');
  copier.insert(Buffer.from([0xff, 0xd9]));
  return { bytes: copier.join(), ...size };
}

function jpegOrientation(orientation: number): Buffer {
  const data = Buffer.concat([exifPrefix, orientationHeader(orientation)]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

/** Optional chunks that affect how the image looks, animations included. Critical chunks start with a capital letter. */
const shownChunks = new Set(
  'tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD pHYs hIST sPLT acTL fcTL fdAT'.split(' '),
);

export function readPng(bytes: Buffer): ImageContent {
  const copier = new PartCopier(bytes);
  copier.copy(0, 8);
  if (bytes.length < 33 || bytes.toString('latin1', 12, 16) !== 'IHDR')
    throw new DamagedImage('the PNG does not start with its header');
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  let offset = 8;
  while (offset + 12 <= bytes.length) {
    const end = offset + 12 + bytes.readUInt32BE(offset);
    if (end > bytes.length) throw new DamagedImage('a chunk of the PNG is longer than the file');
    const type = bytes.toString('latin1', offset + 4, offset + 8);
    const isCritical = (bytes[offset + 4]! & 0x20) === 0;
    if (isCritical || shownChunks.has(type)) copier.copy(offset, end);
    else if (type === 'eXIf') {
      const orientation = orientationOf(bytes.subarray(offset + 8, end - 4));
      if (orientation !== 1) copier.insert(pngOrientation(orientation));
    }
    offset = end;
    if (type === 'IEND') break;
  }
  return { bytes: copier.join(), ...size };
}

function pngOrientation(orientation: number): Buffer {
  const typed = Buffer.concat([Buffer.from('eXIf', 'latin1'), orientationHeader(orientation)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(typed.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

const shownWebpChunks = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const webpExifFlag = 0x08;
const webpXmpFlag = 0x04;

export function readWebp(bytes: Buffer): ImageContent {
  const parts: Buffer[] = [];
  let size: { width: number; height: number } | null = null;
  let orientation = 1;
  let header: Buffer | null = null;
  const declared = Math.min(bytes.length, 8 + bytes.readUInt32LE(4));
  let offset = 12;
  while (offset + 8 <= declared) {
    const type = bytes.toString('latin1', offset, offset + 4);
    const length = bytes.readUInt32LE(offset + 4);
    const end = offset + 8 + length;
    if (end > bytes.length) throw new DamagedImage('a chunk of the WebP is longer than the file');
    const data = bytes.subarray(offset + 8, end);
    size ??= webpSize(type, data);
    if (type === 'EXIF') orientation = orientationOf(data.subarray(0, 6).equals(exifPrefix) ? data.subarray(6) : data);
    else if (shownWebpChunks.has(type)) {
      const chunk = webpChunk(bytes.subarray(offset, offset + 8), data);
      if (type === 'VP8X' && length >= 10) header = chunk;
      parts.push(chunk);
    }
    offset = end + (length % 2);
  }
  if (size === null) throw new DamagedImage('the WebP has no image');
  if (header !== null) {
    header[8] = header[8]! & ~(webpExifFlag | webpXmpFlag);
    if (orientation !== 1) {
      header[8] |= webpExifFlag;
      const exif = orientationHeader(orientation);
      const head = Buffer.from('EXIF\0\0\0\0', 'latin1');
      head.writeUInt32LE(exif.length, 4);
      parts.push(webpChunk(head, exif));
    }
  }
  const body = Buffer.concat(parts);
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  head.writeUInt32LE(body.length + 4, 4);
  return { bytes: Buffer.concat([head, body]), ...size };
}

/** A copy, padded to an even length. */
function webpChunk(head: Buffer, data: Buffer): Buffer {
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function webpSize(type: string, data: Buffer): { width: number; height: number } | null {
  if (type === 'VP8X' && data.length >= 10)
    return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 };
  if (type === 'VP8 ' && data.length >= 10)
    return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
  if (type !== 'VP8L' || data.length < 5) return null;
  const packed = data.readUInt32LE(1);
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
}

export function readGif(bytes: Buffer): ImageContent {
  if (bytes.length < 13) throw new DamagedImage('the GIF has no image');
  return { bytes, width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}
