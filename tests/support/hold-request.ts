/**
 * Keeps a request for as long as the signal that it was made with: one that nobody holds is collected, and the abort of its
 * maker reaches its own signal no more. The adapters of the product hold theirs until the answer is whole.
 */
export function holdRequest(request: Request, maker: AbortSignal): void {
  maker.addEventListener('abort', () => void request, { once: true });
}
