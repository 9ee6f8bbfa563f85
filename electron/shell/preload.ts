import { contextBridge, ipcRenderer } from 'electron';
import { portChannel } from './window-address.ts';

/** This script alone of the Node side runs beside a page; the project has no types of the DOM. */
declare const window: {
  readonly location: { readonly origin: string };
  postMessage(message: unknown, targetOrigin: string, ports: readonly unknown[]): void;
};

/**
 * The one thing that crosses from the sandbox: the page asks for its port, and gets it as a message, since the bridge
 * itself cannot carry a port. Everything else goes over that port.
 */
contextBridge.exposeInMainWorld('touchstone', {
  requestPort: () => ipcRenderer.send(portChannel),
});

ipcRenderer.on(portChannel, (event) => {
  window.postMessage(portChannel, window.location.origin, event.ports);
});
