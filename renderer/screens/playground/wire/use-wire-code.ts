import { useCallback } from 'react';
import type { Model } from '../../../../shared/contract/providers.ts';
import { defaultSettings } from '../../../../shared/contract/settings.ts';
import { useHostState } from '../../../queries/host-state.ts';
import { useSettings } from '../../../queries/settings.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';
import { readRequest } from '../session/run-request.ts';
import { codeOf } from './wire-code.ts';
import type { CodeLanguage } from './wire-code.ts';

/**
 * The call of this draft as code, as it would be made now. While the local server is off the address is the one that it will
 * have. What cannot be run yet is given with what can be read of it.
 */
export function useWireCode(draft: Draft, model: Model | null): (language: CodeLanguage) => string {
  const serverAddress = useHostState().data?.serverAddress ?? null;
  const { port, isTls } = useSettings().data?.localServer ?? defaultSettings.localServer;
  return useCallback(
    (language) => {
      const address =
        serverAddress ?? `${isTls ? 'https' : 'http'}://127.0.0.1:${port || defaultSettings.localServer.port}`;
      const read = readRequest(draft, model);
      const { aiSystem, promptText } = draft;
      const request = 'request' in read ? read.request : { promptText, aiSystem, model: draft.model };
      return codeOf(language, { address: address.replace(/\/$/, ''), transport: draft.transport, request });
    },
    [draft, isTls, model, port, serverAddress],
  );
}
