/** Why a listener couldn't start and what to do, for the person who runs the host. */
export function describePortFailure(failure: unknown, port: number): string {
  const code = (failure as NodeJS.ErrnoException | null)?.code;
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. Choose another port, or 0 for any free port.`;
  if (code === 'EACCES') return `This system doesn't allow port ${port}. Choose port 1024 or higher.`;
  return `Couldn't start the local server on port ${port}${code ? ` (${code})` : ''}.`;
}
