// oxlint-disable-next-line import/no-unassigned-import -- it must run before the first schema is created
import './shell/zod-without-eval.ts';
import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/jetbrains-mono/wght.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App, NoHost } from './app.tsx';
import { connectHost } from './host/host-context.tsx';
import { createQueryClient } from './queries/query-client.ts';
import { loadFirstScreen } from './shell/screens.ts';
import { setConnection, useWindowState } from './stores/window.ts';
import './styles/main.css';

const root = createRoot(document.getElementById('window') as HTMLElement);
const queryClient = createQueryClient();

async function open(): Promise<void> {
  try {
    const host = await connectHost({ signal: new AbortController().signal, onConnection: setConnection });
    // On the desktop the host starts with the first request, which the screens send, and can't pass on files while it does.
    await firstScreen;
    root.render(
      <StrictMode>
        <App host={host} queryClient={queryClient} />
      </StrictMode>,
    );
  } catch (error) {
    root.render(<NoHost error={error} onRetry={() => void open()} />);
  }
}

const address = location.hash.slice(1);
const firstScreen = loadFirstScreen(address.length > 1 ? address : useWindowState.getState().location);
// Not awaited: the screens' files import this one, and would wait until it has been evaluated.
void open();
