import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import { Checkbox } from './choices.tsx';
import { formatWhole } from './format.ts';

const kinds = [
  { kind: 'secret', label: 'Keys and tokens' },
  { kind: 'email', label: 'E-mail addresses' },
  { kind: 'phone', label: 'Phone numbers' },
  { kind: 'card', label: 'Card numbers' },
  { kind: 'account', label: 'Account numbers' },
] as const;

type PatternRule = Extract<RedactionRule, { kind: 'pattern' }>;

export function patternRules(rules: readonly RedactionRule[]): PatternRule[] {
  return rules.filter((rule) => rule.kind === 'pattern');
}

/** How often a rule replaced something. */
export interface HiddenCount {
  readonly kind: RedactionRule['kind'];
  readonly pattern: string | null;
  readonly count: number;
}

function Hidden({ count }: { count: number | undefined }) {
  if (!count) return null;
  return <span className="caption tertiary nowrap numbers">{formatWhole(count)} hidden</span>;
}

interface RedactionChoicesProps {
  /** Since the host started; left out where nothing is counted. */
  hidden?: readonly HiddenCount[] | undefined;
  rules: readonly RedactionRule[];
  onChange: (rules: RedactionRule[]) => void;
}

/** The rules of our own, and the names of custom patterns, which are always applied. */
export function RedactionChoices({ rules, hidden, onChange }: RedactionChoicesProps) {
  const toggle = (kind: (typeof kinds)[number]['kind'], isOn: boolean): void => {
    const others = rules.filter((rule) => rule.kind !== kind);
    onChange(isOn ? [...others, { kind }] : others);
  };
  return (
    <>
      {kinds.map(({ kind, label }) => (
        <div key={kind} className="redaction-choice">
          <Checkbox
            label={label}
            isChecked={rules.some((rule) => rule.kind === kind)}
            onCheckedChange={(isOn) => toggle(kind, isOn)}
          />
          <Hidden count={hidden?.find((one) => one.kind === kind)?.count} />
        </div>
      ))}
      {patternRules(rules).map(({ name, pattern }) => (
        <p key={`${name} ${pattern}`} className="redaction-choice small">
          <span className="truncate" title={pattern}>
            {name} <code className="mono--small tertiary">{pattern}</code>
          </span>
          <Hidden count={hidden?.find((one) => one.pattern === pattern)?.count} />
        </p>
      ))}
    </>
  );
}
