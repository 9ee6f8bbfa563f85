import { analyse } from 'chardet';

/** Enough bytes to detect the encoding, and few enough for the slow analysis of letters. */
const sampleBytes = 65_536;

/** Control characters that occur in text files: tab, line feed, form feed, carriage return, escape (ISO-2022). */
const ordinaryControls = new Set([9, 10, 11, 12, 13, 27]);

/** Above this share of control characters the file is binary. */
const maxControls = 0.01;

/** Min confidence, of 100, for an encoding that only the letters suggest; otherwise it is Windows-1252, which includes Latin-1. */
const minConfidence = 30;

/** Min share of valid characters beyond ASCII in damaged UTF-8, such as a file that is cut within a character. Text in other encodings has up to 0.4. */
const minValid = 0.8;
/** The same in a file that declares UTF-8, of which many are in another encoding. */
const minValidDeclared = 0.5;

function byMark(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return null;
}

/** UTF-16 without a mark: nearly every other byte of Western text, and of the white space in any other, is zero. */
function byZeros(bytes: Uint8Array): string | null {
  let even = 0;
  let odd = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes[index] !== 0) continue;
    if (index % 2 === 0) even += 1;
    else odd += 1;
  }
  const half = bytes.length / 2;
  if (odd > half * 0.3 && even < odd / 20) return 'utf-16le';
  if (even > half * 0.3 && odd < even / 20) return 'utf-16be';
  return null;
}

/** Whether the first bytes of a file are text in any encoding. */
export function looksLikeText(head: Uint8Array): boolean {
  if (byMark(head) ?? byZeros(head)) return true;
  let controls = 0;
  for (const byte of head) if (byte < 32 && !ordinaryControls.has(byte)) controls += 1;
  return controls <= head.length * maxControls;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function validShare(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8').decode(bytes);
  let valid = 0;
  let invalid = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0xfffd) invalid += 1;
    else if (code >= 128) valid += 1;
  }
  return valid / (valid + invalid);
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/** The bytes around those that are not ASCII. In a long text of mostly ASCII they determine its encoding. */
function tellingSample(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte >= 128);
  const start = Math.max(0, first - 1024);
  return bytes.subarray(start, start + sampleBytes);
}

function byLetters(bytes: Uint8Array): string {
  const [best] = analyse(tellingSample(bytes));
  if (!best || best.confidence < minConfidence || !isKnown(best.name)) return 'windows-1252';
  return best.name === 'ISO-8859-1' || best.name.startsWith('UTF-') ? 'windows-1252' : best.name;
}

/** A label in the file, such as an HTML page's `charset`. It is ignored if it contradicts a byte order mark or the validity as UTF-8. */
export type DeclaredEncoding = (head: string) => string | null;

function encodingOf(bytes: Uint8Array, declared: DeclaredEncoding): string {
  const marked = byMark(bytes) ?? byZeros(bytes.subarray(0, sampleBytes));
  if (marked) return marked;
  if (isUtf8(bytes)) return 'utf-8';
  const label = declared(new TextDecoder('latin1').decode(bytes.subarray(0, 4096)));
  const encoding = label !== null && isKnown(label) ? new TextDecoder(label).encoding : null;
  if (encoding !== null && encoding !== 'utf-8') return encoding;
  if (validShare(bytes) >= (encoding === 'utf-8' ? minValidDeclared : minValid)) return 'utf-8';
  return byLetters(bytes);
}

/**
 * Decodes a file in any encoding: Unicode by its byte order mark or its validity, others by the file's declaration or its letters.
 * Line ends become `
 * `; NUL and other control characters become spaces, soft hyphens are removed, and invalid bytes become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, declared: DeclaredEncoding = () => null): string {
  return cleanText(new TextDecoder(encodingOf(bytes, declared)).decode(bytes));
}

/**
 * Text that can be stored and shown: well-formed Unicode without NUL, lines end with `
 * `.
 */
export function cleanText(text: string): string {
  const ended = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  const plain = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\xad\ufeff]/.test(ended)
    ? ended
        .replaceAll('\f', '\n')
        .replaceAll('\xad', '')
        .replaceAll(/[\0-\x08\x0b\x0e-\x1f\x7f\ufeff]/g, ' ')
    : ended;
  return plain.toWellFormed();
}
