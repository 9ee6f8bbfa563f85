import { apiKeyInput } from '../../../../shared/contract/api-keys.ts';

/** Reads the text of a limit field: empty is no limit. A text instead of a number is what is wrong with it. */
export function readCreditLimit(text: string): { limit: number | null } | { problem: string } {
  if (text.trim() === '') return { limit: null };
  const limit = Number(text.replaceAll(/[\s,_]/g, ''));
  const checked = apiKeyInput.shape.creditLimit.safeParse(limit);
  return checked.success
    ? { limit }
    : { problem: 'Must be a whole number from 0 to 1,000,000,000, or empty for no limit' };
}
