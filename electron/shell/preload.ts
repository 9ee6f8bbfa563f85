import { contextBridge, ipcRenderer } from 'electron';
import { portChannel } from './window-address.ts';

/** The only Node code that runs beside a page; the project has no DOM types. */
declare const window: {
  readonly location: { readonly origin: string };
  postMessage(message: unknown, targetOrigin: string, ports: readonly unknown[]): void;
};

/**
 * The only channel out of the sandbox: the page requests its port and receives it as a message, because the bridge itself can't
 * transfer a port. Everything else uses that port.
 */
contextBridge.exposeInMainWorld('touchstone', {
  requestPort: () => ipcRenderer.send(portChannel),
});

ipcRenderer.on(portChannel, (event, host: unknown) => {
  window.postMessage({ name: portChannel, host }, window.location.origin, event.ports);
});
