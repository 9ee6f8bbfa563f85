import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserWindow, dialog, Menu, shell, type OpenDialogOptions } from 'electron';
import { AppError } from '../../shared/app-error.ts';
import {
  chooseModelFile,
  choosePromptFolder,
  openApplicationMenu,
  openDataFolder,
  openExportFolder,
} from '../../shared/contract/host-specific.ts';
import { exportsDirectory } from '../audit/evidence/pack-store.ts';
import { implement, type Handler } from '../api/api.ts';

const modelFile: OpenDialogOptions = {
  title: 'Choose a GGUF model',
  buttonLabel: 'Use model',
  properties: ['openFile'],
  filters: [
    { name: 'GGUF models', extensions: ['gguf'] },
    { name: 'All files', extensions: ['*'] },
  ],
};

const promptFolder: OpenDialogOptions = {
  title: 'Link a folder of prompt files',
  buttonLabel: 'Link folder',
  properties: ['openDirectory', 'createDirectory'],
};

/** The choice in the system's dialog; null for none. */
async function chosenPath(options: OpenDialogOptions): Promise<string | null> {
  const window = BrowserWindow.getFocusedWindow();
  const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
  return filePaths[0] ?? null;
}

/** The endpoints that only the desktop implements. */
export function desktopHandlers(dataDirectory: string): Handler[] {
  return [
    implement(chooseModelFile, async () => ({ path: await chosenPath(modelFile) })),
    implement(choosePromptFolder, async () => ({ path: await chosenPath(promptFolder) })),
    implement(openApplicationMenu, ({ body }) => {
      const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0];
      // The window's own units, because its page may be zoomed.
      const zoom = window?.webContents.getZoomFactor() ?? 1;
      const [x, y] = [Math.round(body.x * zoom), Math.round(body.y * zoom)];
      if (window) Menu.getApplicationMenu()?.popup({ window, x, y });
      return undefined;
    }),
    implement(openDataFolder, async () => {
      const failure = await shell.openPath(dataDirectory);
      if (failure)
        throw new AppError('internal', "Couldn't open the data folder in the file manager.", { cause: failure });
      return undefined;
    }),
    implement(openExportFolder, async ({ parameters }) => {
      // The ID is a UUID, so it can't name another folder.
      const folder = join(exportsDirectory(dataDirectory), parameters.id.toLowerCase());
      if (!existsSync(folder)) throw new AppError('not_found', 'There is no evidence pack with this ID.');
      const failure = await shell.openPath(folder);
      if (failure)
        throw new AppError('internal', "Couldn't open the evidence pack in the file manager.", { cause: failure });
      return undefined;
    }),
  ];
}
