import {
  startScriptedProvider,
  type ScriptedCall,
  type ScriptedProvider,
} from '../../tests/support/scripted-provider.ts';

export const replayModel = 'replayer';

/** An endpoint with one model and a constant answer. */
export function startReplayEndpoint(): Promise<ScriptedProvider> {
  return startScriptedProvider((call: ScriptedCall) => {
    if (call.method === 'GET') return call.models([replayModel]);
    const content = 'It is mended free of charge.';
    return call.body['stream'] === true ? call.chatStream([content]) : call.chatAnswer({ content });
  });
}
