import type { ProviderSettings } from './language-model-provider.ts';
import { failureFromStatus, ProviderFailure, toProviderError } from './provider-error.ts';
import type { ModerationRequest } from './provider.ts';

/** Calls a moderation endpoint in OpenAI's format, which Mistral and others have, too. Returns its JSON unchanged. */
export async function moderateAtProvider(
  settings: ProviderSettings,
  request: ModerationRequest,
  callerSignal: AbortSignal,
): Promise<unknown> {
  // A separate signal, because the transport stores the details of a call by its signal.
  const signal = AbortSignal.any([callerSignal]);
  try {
    const { status, headers, text } = await settings.transport.request(`${settings.baseAddress}/moderations`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(settings.key === null ? {} : { authorization: `Bearer ${settings.key}` }),
      },
      body: JSON.stringify(request),
      signal,
    });
    if (status < 200 || status >= 300) throw failureFromStatus({ status, headers, body: text }, settings);
    return parse(text, settings.title);
  } catch (error) {
    throw toProviderError(error, settings, callerSignal);
  }
}

function parse(body: string, title: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new ProviderFailure('provider_failed', `${title} sent a response that Touchstone can't read. Try again.`, {
      cause,
    });
  }
}
