/** Why a listener could not start and what to do, for the person who runs the host. */
export function describePortFailure(failure: unknown, port: number): string {
  const code = (failure as NodeJS.ErrnoException | null)?.code;
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. Choose another one, or 0 for any that is free.`;
  if (code === 'EACCES') return `This system does not let you use port ${port}. Choose one from 1024 on.`;
  return `The local server could not start on port ${port}${code ? ` (${code})` : ''}.`;
}
