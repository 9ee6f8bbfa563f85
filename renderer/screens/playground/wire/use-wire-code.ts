import { useCallback } from 'react';
import type { Model } from '../../../../shared/contract/providers.ts';
import { defaultSettings } from '../../../../shared/contract/settings.ts';
import { useHostState } from '../../../queries/host-state.ts';
import { useSettings } from '../../../queries/settings.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { readRequest } from '../session/run-request.ts';
import { codeOf } from './wire-code.ts';
import type { CodeLanguage } from './wire-code.ts';

/** Where API clients reach the service, without a slash at the end; while the local server is off, where they will reach it. */
export function useServiceAddress(): string {
  const serverAddress = useHostState().data?.serverAddress ?? null;
  const { port, isTls } = useSettings().data?.localServer ?? defaultSettings.localServer;
  const address =
    serverAddress ?? `${isTls ? 'https' : 'http'}://127.0.0.1:${port || defaultSettings.localServer.port}`;
  return address.replace(/\/$/, '');
}

/**
 * The call of this draft as code, as it would be made now. What can't be run yet is included as far as it can be read.
 */
export function useWireCode(draft: Draft, model: Model | null): (language: CodeLanguage) => string {
  const address = useServiceAddress();
  return useCallback(
    (language) => {
      const read = readRequest(draft, model);
      const { aiSystem, promptText } = draft;
      const request = 'request' in read ? read.request : { promptText, aiSystem, model: draft.model };
      return codeOf(language, { address, transport: draft.transport, request });
    },
    [address, draft, model],
  );
}
