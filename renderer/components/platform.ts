/** Whether the person's keyboard has a Command key; in a browser this is their machine, not the host's. */
export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');
