import { app, dialog, type BrowserWindow } from 'electron';

/** A page that fails again within this time after it was loaded anew will not get better by a third attempt. */
const calmTime = 60_000;

/** Loads the window again when its process ends, and tells the person; runs under way were recorded as cancelled. */
export function recoverFromCrashes(window: BrowserWindow): void {
  let lastCrash = Number.NEGATIVE_INFINITY;

  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    const isRepeated = Date.now() - lastCrash < calmTime;
    lastCrash = Date.now();
    if (isRepeated) {
      dialog.showErrorBox(
        "Touchstone couldn't open its window",
        'The window crashed twice. Your drafts and runs are saved.',
      );
      return app.quit();
    }
    // Not from within the event: the frame is still being taken apart, and Electron would end with it.
    setImmediate(() => {
      if (!window.isDestroyed()) window.webContents.reload();
    });
    void dialog.showMessageBox(window, {
      type: 'warning',
      message: 'The window crashed and was reloaded.',
      detail: 'Your drafts are saved. Active runs are in the history as cancelled, with their partial answers.',
    });
  });
}
