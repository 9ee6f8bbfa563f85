/** The replays and one of them, beside the list: `/audit/replays/<id>`. No filter is written like this, it has `=` in it. */
export function replayAddress(id?: string): string {
  return id === undefined ? '/audit/replays' : `/audit/replays/${id}`;
}

/** The replay that an address opens: null for the newest one, undefined where it is no address of replays. */
export function readReplayAddress(location: string): string | null | undefined {
  const [, , part, id] = location.split('/');
  return part === 'replays' ? id || null : undefined;
}
