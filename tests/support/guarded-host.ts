import { afterEach } from 'vitest';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import type { GuardSettings } from '../../shared/contract/moderation.ts';
import type { TestHost } from './test-host.ts';

/** What the guard on this device flags as violence. */
export const threat = 'I will find you, break your fingers and kill you with a knife, you worthless idiot.';

/** As programs that write only ASCII do, and a model that wants to get past a check. */
export function escapedText(text: string): string {
  return text.replaceAll(/./gsu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Sets the guard of a file's host. After each test it is off, and the provider is not scripted. */
export function guardOf(hostOf: () => TestHost): (guard: GuardSettings) => void {
  const setGuard = (guard: GuardSettings) => void hostOf().host.storage.settings.update({ guard });
  afterEach(() => {
    hostOf().provider.answerWith(null);
    setGuard({ prompts: 'off', answers: 'off' });
  });
  return setGuard;
}

/** The ids of the runs that the audit finds. */
export async function foundRuns({ host }: TestHost, filter: AuditFilter): Promise<string[]> {
  const { signal } = new AbortController();
  const page = await host.storage.audit.search({ filter, sort: 'newest', limit: 50 }, { signal });
  return page.rows.map(({ run }) => run.runId);
}
