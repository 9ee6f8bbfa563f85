/** The settings in the cache; a file of its own because the host's state is read with an eye on them, and they on it. */
export const settingsKey = ['settings'] as const;
