const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;

/** Nothing of the person who runs the tests but what a host needs to start, soon: neither keys nor, by itself, a keychain. */
export const hostEnvironment: NodeJS.ProcessEnv = {
  PATH,
  HOME,
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
};
