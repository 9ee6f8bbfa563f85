/** The replay that an address opens: null for the newest one, undefined where it is no address of replays. */
export function readReplayAddress(location: string): string | null | undefined {
  const [, , part, id] = location.split('/');
  return part === 'replays' ? id || null : undefined;
}
