import { invalidField } from '../../shared/app-error.ts';
import type { Warning } from '../../shared/contract/completions.ts';
import type { Message } from '../../shared/contract/messages.ts';
import { providerName } from '../../shared/provider-names.ts';
import { detailsOf } from './catalogue.ts';
import type { RuleSet } from './parameter-rules.ts';

function reject(issue: string): never {
  throw invalidField('promptText', issue, `The prompt ${issue}.`);
}

/**
 * Warnings about messages that a provider's API interprets differently. Throws `invalid_request` for those that it rejects. The
 * provider checks rules that depend on the model, and the caller gets its message.
 */
export function messageWarnings(ruleSet: RuleSet, messages: readonly Message[]): Warning[] {
  if (messages.length === 1 || ruleSet === 'OpenAiCompatible' || ruleSet === 'on-device') return [];
  const rules = detailsOf[ruleSet].messageRules;
  if (rules === undefined) return [];
  const name = providerName(ruleSet);
  const start = messages.findIndex(({ role }) => role !== 'system');
  if (rules.isSystemOnlyFirst && messages.some(({ role }, index) => role === 'system' && index > start))
    reject(`has a system message after other messages, which ${name} doesn't support`);
  if (messages.at(-1)?.role !== 'assistant') return [];
  if (rules.lastAssistant === 'rejected')
    reject(`ends with an assistant message, and ${name} needs a user message at the end`);
  if (rules.lastAssistant !== 'complete') return [];
  const message = `The prompt ends with an assistant message. ${name} doesn't continue it and starts a new answer.`;
  return [{ code: 'answer-not-continued', message }];
}
