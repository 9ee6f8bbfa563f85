import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** The message with which a descriptor is refused. */
export const tooManyOpen = 'Too many files and connections are open.';

/** Connections to a keychain stay open until the memory of their entry is reclaimed, so one spare is not enough. */
const spareCount = 16;

export interface SpareDescriptors {
  /**
   * Makes sure that the next descriptor that this process opens is below the limit; throws when none can be had. Nothing may
   * be opened between this call and the one that needs it.
   */
  makeRoom(): void;
}

/**
 * Holds descriptors with low numbers back, for a library that cannot use others. `limit` is the lowest number that is too high.
 * They are taken at once, so call this while the process has few files and sockets open.
 */
export function keepSpareDescriptors(limit: number): SpareDescriptors {
  const spares: number[] = [];

  /** The system gives the lowest number that is free. */
  function isRoomBelowLimit(): boolean {
    try {
      const descriptor = openSync(devNull, 'r');
      closeSync(descriptor);
      return descriptor < limit;
    } catch {
      return false;
    }
  }

  function refill(): void {
    while (spares.length < spareCount && isRoomBelowLimit()) spares.push(openSync(devNull, 'r'));
  }

  refill();
  return {
    makeRoom() {
      refill();
      if (isRoomBelowLimit()) return;
      const spare = spares.pop();
      if (spare === undefined) throw new Error(tooManyOpen);
      closeSync(spare);
    },
  };
}
