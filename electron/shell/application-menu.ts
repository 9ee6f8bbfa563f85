import { BrowserWindow, Menu, shell, type MenuItemConstructorOptions } from 'electron';

const isMac = process.platform === 'darwin';

/** Opens an address of the window; `/commands/<id>` runs a command there. */
type OpenAddress = (address: string) => void;

function aboutItem(open: OpenAddress): MenuItemConstructorOptions {
  return { label: 'About Touchstone', click: () => open('/commands/window.about') };
}

/** The window handles the keys of these two itself; the menu only shows them. On a Mac the menu handles `Cmd+,`. */
function settingsItem(open: OpenAddress): MenuItemConstructorOptions {
  return {
    label: isMac ? 'Settings…' : 'Settings',
    accelerator: 'CmdOrCtrl+,',
    registerAccelerator: isMac,
    click: () => open('/settings'),
  };
}

function newPromptItem(open: OpenAddress): MenuItemConstructorOptions {
  return { label: 'New prompt', click: () => open('/commands/playground.new') };
}

function applicationMenu(open: OpenAddress): MenuItemConstructorOptions {
  return {
    label: 'Touchstone',
    submenu: [
      aboutItem(open),
      { type: 'separator' },
      settingsItem(open),
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
}

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

/** Ctrl+1 to 9, K, L, S and Enter are the window's own keys. Reload has no key: it would end active runs. */
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

function fileMenu(dataDirectory: string, open: OpenAddress): MenuItemConstructorOptions {
  const leave: MenuItemConstructorOptions[] = isMac ? [{ role: 'close' }] : [{ role: 'close' }, { role: 'quit' }];
  return {
    label: 'File',
    submenu: [
      newPromptItem(open),
      ...(isMac ? [] : [settingsItem(open)]),
      { type: 'separator' },
      { label: 'Open data folder', click: () => void shell.openPath(dataDirectory) },
      { type: 'separator' },
      ...leave,
    ],
  };
}

function helpMenu(open: OpenAddress): MenuItemConstructorOptions {
  return {
    label: 'Help',
    role: 'help',
    submenu: [
      { label: 'Keyboard shortcuts', click: () => open('/commands/window.keys') },
      ...(isMac ? [] : [aboutItem(open)]),
    ],
  };
}

export function setApplicationMenu(dataDirectory: string, open: OpenAddress): void {
  const menus = [fileMenu(dataDirectory, open), editMenu, viewMenu, windowMenu, helpMenu(open)];
  Menu.setApplicationMenu(Menu.buildFromTemplate(isMac ? [applicationMenu(open), ...menus] : menus));
}
