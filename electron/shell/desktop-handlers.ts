import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BrowserWindow, dialog, shell, type OpenDialogOptions } from 'electron';
import { AppError } from '../../shared/app-error.ts';
import {
  chooseModelFile,
  choosePromptFolder,
  openDataFolder,
  openExportFolder,
} from '../../shared/contract/desktop.ts';
import { exportsDirectory } from '../audit/exports/export-shelf.ts';
import { implement, type Handler } from '../api/handler.ts';

const modelFile: OpenDialogOptions = {
  title: 'Open a GGUF model',
  buttonLabel: 'Use this model',
  properties: ['openFile'],
  filters: [
    { name: 'GGUF models', extensions: ['gguf'] },
    { name: 'All files', extensions: ['*'] },
  ],
};

const promptFolder: OpenDialogOptions = {
  title: 'Link a folder of prompt files',
  buttonLabel: 'Link this folder',
  properties: ['openDirectory', 'createDirectory'],
};

/** What the person chose in the system's dialog; null for nothing. */
async function chosenPath(options: OpenDialogOptions): Promise<string | null> {
  const window = BrowserWindow.getFocusedWindow();
  const { filePaths } = await (window ? dialog.showOpenDialog(window, options) : dialog.showOpenDialog(options));
  return filePaths[0] ?? null;
}

/** What the desktop answers beyond the service itself. */
export function desktopHandlers(dataDirectory: string): Handler[] {
  return [
    implement(chooseModelFile, async () => ({ path: await chosenPath(modelFile) })),
    implement(choosePromptFolder, async () => ({ path: await chosenPath(promptFolder) })),
    implement(openDataFolder, async () => {
      const failure = await shell.openPath(dataDirectory);
      if (failure)
        throw new AppError('internal', 'The file manager could not show the data folder.', { cause: failure });
      return undefined;
    }),
    implement(openExportFolder, async ({ parameters }) => {
      // The id is a uuid: it can name no other folder.
      const folder = join(exportsDirectory(dataDirectory), parameters.id.toLowerCase());
      if (!existsSync(folder)) throw new AppError('not_found', 'There is no evidence pack with this id.');
      const failure = await shell.openPath(folder);
      if (failure) throw new AppError('internal', 'The file manager could not show the pack.', { cause: failure });
      return undefined;
    }),
  ];
}
