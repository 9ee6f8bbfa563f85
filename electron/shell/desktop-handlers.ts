import { BrowserWindow, dialog, shell, type OpenDialogOptions } from 'electron';
import { AppError } from '../../shared/app-error.ts';
import { chooseModelFile, openDataFolder } from '../../shared/contract/desktop.ts';
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

/** What the desktop answers beyond the service itself. */
export function desktopHandlers(dataDirectory: string): Handler[] {
  return [
    implement(chooseModelFile, async () => {
      const window = BrowserWindow.getFocusedWindow();
      const { filePaths } = await (window
        ? dialog.showOpenDialog(window, modelFile)
        : dialog.showOpenDialog(modelFile));
      return { path: filePaths[0] ?? null };
    }),
    implement(openDataFolder, async () => {
      const failure = await shell.openPath(dataDirectory);
      if (failure)
        throw new AppError('internal', 'The file manager could not show the data folder.', { cause: failure });
      return undefined;
    }),
  ];
}
