/** The last two have a host write down what it contacts, if `npm test` runs it. */
const names = ['PATH', 'HOME', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'TOUCHSTONE_CONNECTIONS'];

/** Nothing of the person who runs the tests but what a host needs to start, soon: neither keys nor, by itself, a keychain. */
export const hostEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  names.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
);
