/** Folder with an Electron program for tests; throws when none can be had. */
export function electronForTests(): Promise<string>;
