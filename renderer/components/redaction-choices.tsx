import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import { Checkbox } from './choices.tsx';

const kinds = [
  { kind: 'email', label: 'E-mail addresses' },
  { kind: 'phone', label: 'Phone numbers' },
  { kind: 'card', label: 'Card numbers' },
  { kind: 'account', label: 'Account numbers' },
] as const;

type PatternRule = Extract<RedactionRule, { kind: 'pattern' }>;

export function patternRules(rules: readonly RedactionRule[]): PatternRule[] {
  return rules.filter((rule) => rule.kind === 'pattern');
}

interface RedactionChoicesProps {
  rules: readonly RedactionRule[];
  onChange: (rules: RedactionRule[]) => void;
}

/** The rules of our own, and the names of custom patterns, which are always applied. */
export function RedactionChoices({ rules, onChange }: RedactionChoicesProps) {
  const toggle = (kind: (typeof kinds)[number]['kind'], isOn: boolean): void => {
    const others = rules.filter((rule) => rule.kind !== kind);
    onChange(isOn ? [...others, { kind }] : others);
  };
  return (
    <>
      {kinds.map(({ kind, label }) => (
        <Checkbox
          key={kind}
          label={label}
          isChecked={rules.some((rule) => rule.kind === kind)}
          onCheckedChange={(isOn) => toggle(kind, isOn)}
        />
      ))}
      {patternRules(rules).map(({ name, pattern }) => (
        <p key={`${name} ${pattern}`} className="small truncate" title={pattern}>
          {name} <code className="mono--small tertiary">{pattern}</code>
        </p>
      ))}
    </>
  );
}
