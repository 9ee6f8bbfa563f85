import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import type { Endpoint } from '../../../../../shared/contract/endpoint.ts';
import { HostProvider } from '../../../../../renderer/host/host-context.tsx';
import { createQueryClient } from '../../../../../renderer/queries/query-client.ts';
import { useInstallOffered } from '../../../../../renderer/screens/playground/session/use-runner.ts';

afterEach(cleanup);

function RunButton() {
  return <button onClick={useInstallOffered()}>Run</button>;
}

test('Run downloads the model also if it is pressed before the state of the models is there', async () => {
  const state = Promise.withResolvers<object>();
  const called: string[] = [];
  const call = ({ id }: Endpoint) => {
    called.push(id);
    return id === 'readOnDevice' ? state.promise : Promise.resolve({ models: [] });
  };
  render(
    <HostProvider value={{ client: { call } } as never}>
      <QueryClientProvider client={createQueryClient()}>
        <RunButton />
      </QueryClientProvider>
    </HostProvider>,
  );
  fireEvent.click(screen.getByRole('button'));
  await waitFor(() => expect(called).toEqual(['readOnDevice']));
  state.resolve({ models: [{ id: 'small', state: 'absent', source: 'packages' }] });
  await waitFor(() => expect(called).toEqual(['readOnDevice', 'installOnDeviceModel']));
});
