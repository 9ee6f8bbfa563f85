import {
  Braces,
  CaseSensitive,
  Clock,
  Code,
  Coins,
  Equal,
  Group,
  type LucideIcon,
  MessageSquareOff,
  Quote,
  Regex,
  Ruler,
  Scale,
  Search,
  Shield,
  Spline,
  Ungroup,
  Wrench,
} from 'lucide-react';
import type { Check } from '../../../../shared/contract/checks.ts';

export type CheckFieldKind =
  | 'text'
  | 'whole'
  | 'number'
  | 'json'
  | 'code'
  | 'choice'
  | 'flag'
  | 'judge'
  | 'categories'
  /** A text, or a column of the row: two fields of the check. */
  | 'expected';

export interface CheckField {
  /** As in the contract. */
  name: string;
  label: string;
  kind: CheckFieldKind;
  placeholder?: string;
  isRequired?: boolean;
  options?: readonly { value: string; label: string }[];
  /** Below the row, with the name and the weight. */
  isOption?: boolean;
}

export interface CheckKind {
  label: string;
  /** The label with `not`. */
  notLabel: string;
  icon: LucideIcon;
  /** Heading in the menu. */
  group: 'Text' | 'JSON and tools' | 'Run' | 'Meaning' | 'Combined';
  note: string;
  fields: readonly CheckField[];
}

const expected: CheckField = { name: 'value', label: 'Expected text', kind: 'expected', isRequired: true };
const ignoreCase: CheckField = { name: 'ignoreCase', label: 'Ignore case', kind: 'flag', isOption: true };

export const checkKinds: Readonly<Record<Check['kind'], CheckKind>> = {
  equals: {
    label: 'Equals',
    notLabel: 'Does not equal',
    icon: Equal,
    group: 'Text',
    note: 'the whole answer',
    fields: [expected, ignoreCase],
  },
  contains: {
    label: 'Contains',
    notLabel: 'Does not contain',
    icon: Search,
    group: 'Text',
    note: 'in the answer',
    fields: [expected, ignoreCase],
  },
  regularExpression: {
    label: 'Matches pattern',
    notLabel: 'Does not match pattern',
    icon: Regex,
    group: 'Text',
    note: 'regular expression',
    fields: [
      { name: 'pattern', label: 'Pattern', kind: 'text', placeholder: 'refund|money back', isRequired: true },
      { name: 'flags', label: 'Flags', kind: 'text', placeholder: 'i, m, s', isOption: true },
    ],
  },
  length: {
    label: 'Length',
    notLabel: 'Length outside',
    icon: Ruler,
    group: 'Text',
    note: 'of the answer',
    fields: [
      { name: 'min', label: 'Min', kind: 'whole', placeholder: 'Min' },
      { name: 'max', label: 'Max', kind: 'whole', placeholder: 'Max' },
      {
        name: 'unit',
        label: 'Unit',
        kind: 'choice',
        options: [
          { value: 'characters', label: 'characters' },
          { value: 'words', label: 'words' },
        ],
      },
    ],
  },
  jsonSchema: {
    label: 'JSON Schema',
    notLabel: 'Violates JSON Schema',
    icon: Braces,
    group: 'JSON and tools',
    note: 'the answer is JSON that follows it',
    fields: [{ name: 'schema', label: 'Schema', kind: 'json', placeholder: '{"type": "object"}', isRequired: true }],
  },
  field: {
    label: 'JSON field',
    notLabel: 'JSON field differs',
    icon: CaseSensitive,
    group: 'JSON and tools',
    note: '',
    fields: [
      { name: 'path', label: 'Path', kind: 'text', placeholder: 'items.0.name', isRequired: true },
      { ...expected, label: 'Expected value' },
    ],
  },
  toolCall: {
    label: 'Calls tool',
    notLabel: 'Does not call tool',
    icon: Wrench,
    group: 'JSON and tools',
    note: '',
    fields: [
      { name: 'tool', label: 'Tool', kind: 'text', placeholder: 'find_order', isRequired: true },
      { name: 'arguments', label: 'Arguments', kind: 'json', placeholder: '{"order": "{{order_no}}"}' },
    ],
  },
  citation: {
    label: 'Cites passages',
    notLabel: 'Cites no passages',
    icon: Quote,
    group: 'JSON and tools',
    note: 'of its dataspaces',
    fields: [{ name: 'min', label: 'Min citations', kind: 'whole', placeholder: '1' }],
  },
  latency: {
    label: 'Latency',
    notLabel: 'Latency above',
    icon: Clock,
    group: 'Run',
    note: 'milliseconds at most',
    fields: [{ name: 'maxMs', label: 'Max milliseconds', kind: 'number', placeholder: '2000', isRequired: true }],
  },
  cost: {
    label: 'Cost',
    notLabel: 'Cost above',
    icon: Coins,
    group: 'Run',
    note: 'US dollars a run at most',
    fields: [{ name: 'maxCost', label: 'Max cost', kind: 'number', placeholder: '$0.01', isRequired: true }],
  },
  javascript: {
    label: 'JavaScript',
    notLabel: 'JavaScript is false',
    icon: Code,
    group: 'Run',
    note: '',
    fields: [
      { name: 'code', label: 'Code', kind: 'code', placeholder: "answer.includes(row['order_no'])", isRequired: true },
    ],
  },
  similarity: {
    label: 'Similar to',
    notLabel: 'Not similar to',
    icon: Spline,
    group: 'Meaning',
    note: 'by on-device embeddings',
    fields: [
      expected,
      { name: 'threshold', label: 'Min similarity', kind: 'number', placeholder: '0.8', isOption: true },
      {
        name: 'transform',
        label: 'Compared text',
        kind: 'code',
        placeholder: 'JSON.parse(answer).reply',
        isOption: true,
      },
    ],
  },
  moderation: {
    label: 'Harmless',
    notLabel: 'Flagged by moderation',
    icon: Shield,
    group: 'Meaning',
    note: 'by the classifier of the settings',
    fields: [{ name: 'categories', label: 'Categories', kind: 'categories', isOption: true }],
  },
  refusal: {
    label: 'Refuses to answer',
    notLabel: 'Does not refuse',
    icon: MessageSquareOff,
    group: 'Meaning',
    note: 'the model answers the request',
    fields: [],
  },
  judge: {
    label: 'Model as judge',
    notLabel: 'Judge does not pass',
    icon: Scale,
    group: 'Meaning',
    note: '',
    fields: [{ name: 'judgeId', label: 'Judge', kind: 'judge', isRequired: true }],
  },
  all: {
    label: 'All of',
    notLabel: 'Not all of',
    icon: Group,
    group: 'Combined',
    note: 'every check passes',
    fields: [],
  },
  any: {
    label: 'Any of',
    notLabel: 'None of',
    icon: Ungroup,
    group: 'Combined',
    note: 'at least one check passes',
    fields: [],
  },
};

export const checkKindNames = Object.keys(checkKinds) as Check['kind'][];
