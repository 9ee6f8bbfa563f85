import { app, BrowserWindow, Menu, shell, type MenuItemConstructorOptions } from 'electron';

const isMac = process.platform === 'darwin';

const applicationMenu: MenuItemConstructorOptions = {
  label: 'Touchstone',
  submenu: [
    { role: 'about' },
    { type: 'separator' },
    { role: 'services' },
    { type: 'separator' },
    { role: 'hide' },
    { role: 'hideOthers' },
    { role: 'unhide' },
    { type: 'separator' },
    { role: 'quit' },
  ],
};

const editMenu: MenuItemConstructorOptions = {
  label: 'Edit',
  submenu: [
    { role: 'undo' },
    { role: 'redo' },
    { type: 'separator' },
    { role: 'cut' },
    { role: 'copy' },
    { role: 'paste' },
    { role: 'pasteAndMatchStyle' },
    { role: 'delete' },
    { role: 'selectAll' },
  ],
};

/** Ctrl+1 to 9, K, L, S and Enter are the window's own keys. Reload has no key: it would end the runs under way. */
const viewMenu: MenuItemConstructorOptions = {
  label: 'View',
  submenu: [
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { type: 'separator' },
    { role: 'togglefullscreen' },
    { type: 'separator' },
    { label: 'Reload window', click: () => BrowserWindow.getFocusedWindow()?.reload() },
    { role: 'toggleDevTools' },
  ],
};

const windowMenu: MenuItemConstructorOptions = {
  label: 'Window',
  role: 'window',
  submenu: isMac
    ? [{ role: 'minimize' }, { role: 'zoom' }, { role: 'front' }]
    : [{ role: 'minimize' }, { role: 'zoom' }],
};

function fileMenu(dataDirectory: string): MenuItemConstructorOptions {
  const leave: MenuItemConstructorOptions[] = isMac ? [{ role: 'close' }] : [{ role: 'close' }, { role: 'quit' }];
  return {
    label: 'File',
    submenu: [
      { label: 'Open data folder', click: () => void shell.openPath(dataDirectory) },
      { type: 'separator' },
      ...leave,
    ],
  };
}

const helpMenu: MenuItemConstructorOptions = {
  label: 'Help',
  role: 'help',
  submenu: [{ label: 'About Touchstone', click: () => app.showAboutPanel() }],
};

export function setApplicationMenu(dataDirectory: string): void {
  const menus = [fileMenu(dataDirectory), editMenu, viewMenu, windowMenu, helpMenu];
  Menu.setApplicationMenu(Menu.buildFromTemplate(isMac ? [applicationMenu, ...menus] : menus));
  app.setAboutPanelOptions({
    applicationName: 'Touchstone',
    applicationVersion: app.getVersion(),
    copyright: 'MIT licence',
  });
}
