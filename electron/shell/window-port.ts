import { ipcMain, MessageChannelMain, type IpcMainEvent, type MessagePortMain } from 'electron';
import type { FramePort, HostFrame } from '../../shared/port-frames.ts';
import type { Api } from '../api/api.ts';
import { portChannel } from './channels.ts';
import { servePort } from '../ipc/serve-port.ts';
import { isWindowAddress } from './window-address.ts';

function framePort(port: MessagePortMain): FramePort<unknown, HostFrame> {
  return {
    send: (frame) => port.postMessage(frame),
    receive(listener) {
      port.on('message', (event) => listener(event.data));
      port.start();
    },
    onClose: (listener) => port.on('close', listener),
  };
}

/** A page of our own, in the main frame: nothing else may hold a port to the service. */
function isFromWindow({ senderFrame, sender }: IpcMainEvent): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isWindowAddress(senderFrame.url);
}

/** Gives every page of the window that asks for it a port of its own to the service. */
export function offerPorts(api: Api): void {
  ipcMain.on(portChannel, (event) => {
    if (!isFromWindow(event)) return;
    const { port1, port2 } = new MessageChannelMain();
    servePort(framePort(port1), api);
    event.senderFrame?.postMessage(portChannel, null, [port2]);
  });
}
