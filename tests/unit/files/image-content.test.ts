import { describe, expect, test } from 'vitest';
import { DamagedImage, readJpeg, readPng, readWebp } from '../../../electron/files/image-content.ts';
import { fc } from '../../support/fast-check.ts';
import { exifOf, jpegOf, pngOf, webpOf } from '../../support/image-files.ts';

const location = 'GPS 52.5 N';
const formats = [
  {
    name: 'JPEG',
    read: readJpeg,
    plain: jpegOf(),
    located: jpegOf({ exif: exifOf(1) }),
    turned: jpegOf({ exif: exifOf(6) }),
  },
  {
    name: 'PNG',
    read: readPng,
    plain: pngOf(),
    located: pngOf({
      extra: [
        ['eXIf', exifOf(1)],
        ['tEXt', Buffer.from(`Comment\0${location}`)],
      ],
    }),
    turned: pngOf({ extra: [['eXIf', exifOf(6)]] }),
  },
  { name: 'WebP', read: readWebp, plain: webpOf(), located: webpOf(exifOf(1)), turned: webpOf(exifOf(6)) },
] as const;

describe.each(formats)('$name', ({ read, plain, located, turned }) => {
  test('an image without metadata stays the same', () => {
    expect(read(plain).bytes).toEqual(plain);
  });

  test('the location is removed, and nothing else of the image', () => {
    expect(located.includes(location)).toBe(true);
    expect(read(located).bytes).toEqual(plain);
  });

  test('the orientation stays, so that the image is not shown turned', () => {
    const { bytes } = read(turned);
    expect(bytes.includes(location)).toBe(false);
    expect(bytes.length).toBeGreaterThan(plain.length);
    expect(read(bytes).bytes).toEqual(bytes);
  });

  test('a file that was truncated or changed at random is read or rejected', () => {
    fc.assert(
      fc.property(
        fc.nat(located.length),
        fc.array(fc.tuple(fc.nat(located.length - 1), fc.nat(255))),
        (length, changes) => {
          const bytes = Buffer.from(located);
          for (const [offset, value] of changes) if (offset > 11) bytes[offset] = value;
          try {
            read(bytes.subarray(0, Math.max(12, length)));
          } catch (error) {
            if (!(error instanceof DamagedImage || error instanceof RangeError)) throw error;
          }
        },
      ),
    );
  });
});

test('sizes come from the headers', () => {
  expect(readJpeg(jpegOf())).toMatchObject({ width: 640, height: 480 });
  expect(readPng(pngOf({ width: 7, height: 9 }))).toMatchObject({ width: 7, height: 9 });
  expect(readWebp(webpOf())).toMatchObject({ width: 20, height: 10 });
});

test('removes comments and the bytes after the end of a JPEG', () => {
  const hidden = jpegOf({ comment: location, trailer: jpegOf({ exif: exifOf(1) }) });
  expect(readJpeg(hidden).bytes).toEqual(jpegOf());
});

test('20 MB of the smallest segments take two seconds at most', () => {
  const jpeg = Buffer.concat([
    jpegOf().subarray(0, 20),
    Buffer.alloc(20_000_000, Buffer.from([0xff, 0xef, 0, 2])),
    jpegOf().subarray(20),
  ]);
  const png = Buffer.concat([
    pngOf().subarray(0, 33),
    Buffer.alloc(20_000_004, Buffer.from('\0\0\0\0abcdefgh', 'latin1')),
    pngOf().subarray(33),
  ]);
  expect(readJpeg(jpeg).bytes).toEqual(jpegOf());
  expect(readPng(png).width).toBe(2);
});
