import { initialCredit, maximumChunk } from '../../shared/port-frames.ts';

/** A form on its way over the port, in pieces and only as fast as the host takes them. */
export interface PortUpload {
  /** With the boundary between the parts in it. */
  readonly contentType: string;
  /** Resolves with whether all of it was sent; false once it was stopped. Rejects when a file of the form cannot be read. */
  send(sendPiece: (bytes: Uint8Array) => void): Promise<boolean>;
  /** The host took so many bytes more. */
  grant(bytes: number): void;
  /** Sends nothing more: the host has answered, or the request was cancelled. */
  stop(): void;
}

/** `onUpload` gets all bytes that the host has taken. */
export function createPortUpload(form: FormData, onUpload?: (bytes: number) => void): PortUpload {
  const encoded = new Response(form);
  const reader = encoded.body!.getReader();
  let credit = initialCredit;
  let taken = 0;
  let isStopped = false;
  let wake: () => void = () => {};

  async function sendPieces(bytes: Uint8Array, sendPiece: (bytes: Uint8Array) => void): Promise<void> {
    for (let start = 0; start < bytes.byteLength; start += maximumChunk) {
      // A copy: a view of a larger buffer would drag the whole buffer along.
      const piece = bytes.slice(start, start + maximumChunk);
      while (credit < piece.byteLength && !isStopped) await new Promise<void>((resolve) => (wake = resolve));
      if (isStopped) return;
      credit -= piece.byteLength;
      sendPiece(piece);
    }
  }

  return {
    contentType: encoded.headers.get('content-type')!,
    async send(sendPiece) {
      while (!isStopped) {
        const { done, value } = await reader.read();
        if (done) return !isStopped;
        await sendPieces(value, sendPiece);
      }
      return false;
    },
    grant(bytes) {
      credit += bytes;
      taken += bytes;
      onUpload?.(taken);
      wake();
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      void reader.cancel().catch(() => undefined);
      wake();
    },
  };
}
