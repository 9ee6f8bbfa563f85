// Runs before the first paint, so that a chosen theme never flashes in the other one. A file of its own because the
// content security policy takes no inline script; with a number in its name because browsers keep what lies in assets
// for good: a change needs a new number here and in index.html. The key is written by stores/window.ts.
const theme = localStorage.getItem('touchstone.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
