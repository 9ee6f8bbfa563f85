import { create } from 'zustand';
import type { Connection } from '../host/watch-connection.ts';

/** How the host stood to this window at the end of its last request. What is followed asks again every few seconds. */
export const useConnection = create<{ connection: Connection }>()(() => ({ connection: 'there' }));

export function tellConnection(connection: Connection): void {
  if (useConnection.getState().connection !== connection) useConnection.setState({ connection });
}
