import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

/** A hostile body must not fill the memory when it is decompressed. */
const maxDecodedBytes = 64 * 1_048_576;

/** A body that the record can't read, although its receiver may. */
export class UnreadableBody extends Error {}

/** Node's error for more bytes than its limit. */
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

function decoded(body: Uint8Array, encoding: string): Uint8Array {
  const options = { maxOutputLength: maxDecodedBytes };
  switch (encoding) {
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return inflateSync(body, { ...options, finishFlush: constants.Z_SYNC_FLUSH });
    case 'br':
      return brotliDecompressSync(body, { ...options, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zstdDecompressSync(body, { ...options, finishFlush: constants.ZSTD_e_flush });
    default:
      throw new UnreadableBody(`its encoding "${encoding.slice(0, 100)}" is unknown`);
  }
}

/**
 * What has arrived of a body, in the encoding of its `content-encoding`; one that broke off has no end. It takes processor time, so call
 * it in a thread. Throws `UnreadableBody` with the reason for an unknown encoding and for more than 64 MB, and the errors of zlib for
 * a malformed body.
 */
export function decompressed(body: Uint8Array, encoding: string): Uint8Array {
  try {
    return decoded(body, encoding.trim().toLowerCase());
  } catch (error) {
    if (!isTooLong(error)) throw error;
    throw new UnreadableBody(`it is larger than ${maxDecodedBytes / 1_048_576} MB when it is decompressed`);
  }
}
