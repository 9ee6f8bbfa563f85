/** The only channel between window and host: it hands over the port. The window knows the same name. */
export const portChannel = 'touchstone:port';
