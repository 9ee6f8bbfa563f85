/** HTTP/2 on the wire (RFC 9113), byte by byte, for what no client would send. */

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { endStream: 1, acknowledge: 1, endHeaders: 4, padded: 8 } as const;

/** One frame; `length` overrides the true length of the payload. */
export function frame(
  type: keyof typeof frameTypes | number,
  flag: number,
  stream: number,
  payload: Buffer | string = '',
  length?: number,
): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(length ?? bytes.byteLength, 0, 3);
  head.writeUInt8(typeof type === 'number' ? type : frameTypes[type], 3);
  head.writeUInt8(flag, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

export const emptySettings = frame('settings', 0, 0);

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A header field as an HPACK literal that is not indexed and not compressed. */
export function literal(name: string, value: string): Buffer {
  const length = (text: string): number[] => {
    const bytes = Buffer.byteLength(text);
    if (bytes < 127) return [bytes];
    const rest = bytes - 127;
    return rest < 128
      ? [127, rest]
      : [127, (rest & 127) | 128, ...(rest >> 7 < 128 ? [rest >> 7] : [((rest >> 7) & 127) | 128, rest >> 14])];
  };
  return Buffer.concat([
    Buffer.from([0, ...length(name)]),
    Buffer.from(name),
    Buffer.from(length(value)),
    Buffer.from(value),
  ]);
}

/** The header block of `GET /`. */
export function getRequest(authority: string): Buffer {
  return Buffer.concat([Buffer.from([0x82, 0x86, 0x84]), literal(':authority', authority)]);
}
