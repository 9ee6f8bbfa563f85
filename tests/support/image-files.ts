import { crc32, deflateSync } from 'node:zlib';

/** Images that are made byte by byte, with the metadata that a test needs. */

function pngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

export interface PngOptions {
  readonly width?: number;
  readonly height?: number;
  /** Chunks between header and pixels. */
  readonly extra?: readonly (readonly [type: string, data: Buffer])[];
}

/** A grey image. Pixels are only there for small ones. */
export function pngOf({ width = 2, height = 3, extra = [] }: PngOptions = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const pixels = width * height < 1e6 ? Buffer.alloc((width + 1) * height) : Buffer.alloc(1);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...extra.map(([type, data]) => pngChunk(type, data)),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A TIFF header with an orientation and a location, as cameras write it: `GPS 52.5 N` stands for the coordinates. */
export function exifOf(orientation: number): Buffer {
  const tiff = Buffer.alloc(38);
  tiff.write('II*\0', 'latin1');
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(2, 8);
  tiff.writeUInt16LE(0x0112, 10);
  tiff.writeUInt16LE(3, 12);
  tiff.writeUInt32LE(1, 14);
  tiff.writeUInt16LE(orientation, 18);
  tiff.writeUInt16LE(0x8825, 22);
  tiff.writeUInt16LE(4, 24);
  tiff.writeUInt32LE(1, 26);
  tiff.writeUInt32LE(38, 30);
  return Buffer.concat([tiff, Buffer.from('GPS 52.5 N')]);
}

function jpegSegment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

export interface JpegOptions {
  readonly exif?: Buffer;
  readonly trailer?: Buffer;
  readonly comment?: string;
}

/** A JPEG of 640 × 480 by its header. Its scan holds stuffed bytes and a restart marker. */
export function jpegOf({ exif, trailer, comment }: JpegOptions = {}): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    ...(exif ? [jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]))] : []),
    ...(comment === undefined ? [] : [jpegSegment(0xfe, Buffer.from(comment))]),
    jpegSegment(0xc0, Buffer.from([8, 1, 0xe0, 2, 0x80, 1, 1, 0x11, 0])),
    jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 0xff, 0xd9]),
    trailer ?? Buffer.alloc(0),
  ]);
}

function webpChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** A lossless WebP of 20 × 10 by its header, with EXIF if it is given. */
export function webpOf(exif?: Buffer): Buffer {
  const header = Buffer.from([exif ? 0x0c : 0, 0, 0, 0, 19, 0, 0, 9, 0, 0]);
  const pixels = Buffer.from([0x2f, 19, 0x40, 2, 0, 0, 0]);
  const body = Buffer.concat([
    Buffer.from('WEBP'),
    webpChunk('VP8X', header),
    webpChunk('VP8L', pixels),
    ...(exif ? [webpChunk('EXIF', exif), webpChunk('XMP ', Buffer.from('GPS 52.5 N'))] : []),
  ]);
  return webpChunk('RIFF', body);
}
