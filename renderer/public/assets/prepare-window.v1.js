// Runs before the first paint. A file of its own because the content security policy takes no inline script; with a number in its
// name because browsers keep what lies in assets for good: a change needs a new number here and in index.html. stores/window.ts
// writes what it reads.

// So that a chosen theme never flashes in the other one.
const theme = localStorage.getItem('touchstone.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

function preload(file) {
  const link = document.createElement('link');
  link.rel = file.endsWith('.js') ? 'modulepreload' : 'preload';
  link.as = file.endsWith('.js') ? 'script' : file.endsWith('.css') ? 'style' : 'font';
  // As the requests for which they are meant.
  link.crossOrigin = 'anonymous';
  link.href = `/${file}`;
  document.head.append(link);
}

function lastAddress() {
  try {
    return JSON.parse(localStorage.getItem('touchstone.window')).state.location ?? '/playground';
  } catch {
    // A first start, or a damaged entry: the window opens on the playground.
    return '/playground';
  }
}

// On the desktop the files come from the disk, and only until the host starts, which the first screen causes. Its files and the fonts would
// be requested by files that come first. A browser loads what the first paint needs before anything else.
if ('touchstone' in window) {
  const { fonts, screens } = document.currentScript.dataset;
  const address = location.hash.length > 2 ? location.hash.slice(1) : lastAddress();
  const [, files = []] =
    Object.entries(JSON.parse(screens)).find(([name]) => `${address}/`.startsWith(`/${name}/`)) ?? [];
  for (const file of [...JSON.parse(fonts), ...files]) preload(file);
}
