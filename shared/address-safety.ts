/** Declared here, because this folder has neither the browser's types nor Node's. */
declare const URL: {
  new (address: string): { readonly origin: string; readonly protocol: string; readonly hostname: string };
  canParse(address: string): boolean;
};

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Scheme, host and port. A text that isn't a URL is its own origin, so that it equals no other. */
export function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

/** Whether an address is always on this device. Other names below `localhost` may be looked up elsewhere. */
export function isLoopback(address: string): boolean {
  return URL.canParse(address) && loopbackHost.test(new URL(address).hostname);
}

/** Whether others on the network can read what is sent to the address. */
export function isUnencrypted(address: string): boolean {
  return URL.canParse(address) && new URL(address).protocol === 'http:' && !isLoopback(address);
}

/** Opens the remedy in the message of a run whose address isn't confirmed. The window offers the same as a button. */
export const addressRemedy = 'Check the address in';
