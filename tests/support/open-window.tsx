import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { act, cleanup, render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { ReactElement } from 'react';
import { Router } from 'wouter';
import { memoryLocation } from 'wouter/memory-location';
import type { Client } from '../../renderer/host/client.ts';
import { HostProvider } from '../../renderer/host/host-context.tsx';
import { createQueryClient } from '../../renderer/queries/query-client.ts';
import { standInForLayout } from './layout-stand-ins.ts';
import { startWindowHost, type WindowHost, type WindowHostOptions } from './window-host.ts';

export interface OpenWindow {
  readonly window: WindowHost;
  readonly queryClient: QueryClient;
  /** Every address that was shown, the present one last. */
  readonly addresses: readonly string[];
  navigate(address: string): void;
  close(): Promise<void>;
}

export interface OpenWindowOptions extends WindowHostOptions {
  address?: string;
  /** What the host has before the window sees it. */
  prepare?: (client: Client, window: WindowHost) => Promise<unknown>;
}

/** Shows a part of the window on a real host, at an address. */
export async function openWindow(
  part: ReactElement,
  { address = '/', prepare, ...options }: OpenWindowOptions = {},
): Promise<OpenWindow> {
  standInForLayout();
  const window = await startWindowHost(options);
  await prepare?.(window.host.client, window);
  const queryClient = createQueryClient();
  const { hook, searchHook, history, navigate } = memoryLocation({ path: address, record: true });
  render(
    <HostProvider value={window.host}>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider>
          <Router hook={hook} searchHook={searchHook}>
            {part}
          </Router>
        </Tooltip.Provider>
      </QueryClientProvider>
    </HostProvider>,
  );
  const close = async (): Promise<void> => {
    cleanup();
    await queryClient.cancelQueries();
    queryClient.clear();
    await window.close();
  };
  return {
    window,
    queryClient,
    addresses: history,
    navigate: (next) => act(() => navigate(next)),
    close,
  };
}
