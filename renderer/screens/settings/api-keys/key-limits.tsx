import { apiKeyInput, type ApiKey } from '../../../../shared/contract/api-keys.ts';
import { TextField } from '../../../components/text-field.tsx';

export const limitNames = ['creditLimit', 'requestsPerMinute', 'tokensPerMinute'] as const;
export type LimitName = (typeof limitNames)[number];

/** What is typed in the fields. */
export type LimitTexts = Readonly<Record<LimitName, string>>;
export type Limits = Pick<ApiKey, LimitName>;

const labels: Record<LimitName, string> = {
  creditLimit: 'Credit limit',
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
};

const hints: Record<LimitName, string> = {
  creditLimit: "Each completion call costs 1 credit, as does moderation by a provider's model",
  requestsPerMinute: 'Above it, requests get status 429',
  tokensPerMinute: 'Prompts and answers together',
};

const smallest: Record<LimitName, number> = { creditLimit: 0, requestsPerMinute: 1, tokensPerMinute: 1 };

export function textsOf(limits: Limits | null): LimitTexts {
  const text = (name: LimitName): string => String(limits?.[name] ?? '');
  return {
    creditLimit: text('creditLimit'),
    requestsPerMinute: text('requestsPerMinute'),
    tokensPerMinute: text('tokensPerMinute'),
  };
}

/** Empty is no limit. */
function valueOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text.replaceAll(/[\s,_]/g, ''));
}

function problemOf(name: LimitName, text: string): string | null {
  if (apiKeyInput.shape[name].safeParse(valueOf(text)).success) return null;
  return `Must be a whole number from ${smallest[name]} to 1,000,000,000, or empty for no limit`;
}

/** The limits in the fields; null while one of them is no limit. */
export function readLimits(texts: LimitTexts): Limits | null {
  if (limitNames.some((name) => problemOf(name, texts[name]) !== null)) return null;
  return {
    creditLimit: valueOf(texts.creditLimit),
    requestsPerMinute: valueOf(texts.requestsPerMinute),
    tokensPerMinute: valueOf(texts.tokensPerMinute),
  };
}

export interface LimitFieldsProps {
  texts: LimitTexts;
  onChange: (texts: LimitTexts) => void;
  hasFocus?: boolean;
}

/** One field for each limit of a key. */
export function LimitFields({ texts, onChange, hasFocus = false }: LimitFieldsProps) {
  return limitNames.map((name, index) => (
    <TextField
      key={name}
      label={labels[name]}
      autoFocus={hasFocus && index === 0}
      inputMode="numeric"
      placeholder="No limit"
      hint={hints[name]}
      value={texts[name]}
      error={problemOf(name, texts[name])}
      onValueChange={(text) => onChange({ ...texts, [name]: text })}
    />
  ));
}
