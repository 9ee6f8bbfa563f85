/** Why a text or a file can't be imported. `line` counts from 1 in the source; null if unknown. */
export class TransferError extends Error {
  readonly line: number | null;

  constructor(message: string, line: number | null = null) {
    super(message);
    this.name = 'TransferError';
    this.line = line;
  }
}

/** Line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function encodingOf(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'UTF-16';
  const zeros = bytes.subarray(0, 1000).filter((byte) => byte === 0).length;
  if (zeros === 0) return null;
  return zeros * 3 >= Math.min(bytes.length, 1000) ? 'UTF-16 or UTF-32' : 'binary';
}

/** The text of a file, without a byte order mark. Throws `TransferError` if it isn't UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  const encoding = encodingOf(bytes);
  if (encoding === 'binary') throw new TransferError("This isn't a text file");
  if (encoding !== null)
    throw new TransferError(`The file is encoded in ${encoding}; save it as UTF-8 and import it again`);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new TransferError(
      "The file isn't valid UTF-8 (it may be Latin-1 or incomplete); save it as UTF-8 and import it again",
    );
  }
}

/**
 * The text with `
 * ` as line ends, as files are read and compared here.
 */
export function plainLines(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}
