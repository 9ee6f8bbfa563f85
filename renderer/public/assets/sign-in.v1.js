// Runs on the page that a one-time address opens. It stores the session secret and opens the window in place of that page. A file
// because the content security policy takes no inline script. Browsers keep assets for good: a change needs a new number here
// and in electron/server/browser-window.ts. The key is also in shared/window-session.ts.
localStorage.setItem('touchstone.session', document.querySelector('meta[name="touchstone-session"]').content);
location.replace('/');
