import type { AuditExportInput, RedactionRule } from '../../../shared/contract/audit-exports.ts';
import type { PackPlan } from './pack-state.ts';
import { createRedactor, replacementOf } from './redaction.ts';

/** Parts of a filter that people wrote; the others are ids, names of models, numbers and dates. */
const writtenFields = ['text', 'appHeaders', 'feedback', 'tags'] as const;

/** The selection and the name of a pack as they stand in it: a rule also holds for what was searched for. */
export function redactedPlan({ name, input }: PackPlan): { name: string; selection: AuditExportInput['selection'] } {
  const redactor = createRedactor(input.rules);
  const { selection } = input;
  if (!('filter' in selection)) return { name: redactor.text(name), selection };
  const filter: Record<string, unknown> = { ...selection.filter };
  for (const field of writtenFields) {
    if (filter[field] !== undefined) filter[field] = redactor.value(filter[field]);
  }
  return { name: redactor.text(name), selection: { filter } };
}

const ruleNames = {
  email: 'e-mail addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  account: 'account numbers',
};

function ruleText(rule: RedactionRule): string {
  return `${rule.kind === 'pattern' ? rule.name : ruleNames[rule.kind]} as ${replacementOf(rule)}`;
}

function selectionText(selection: AuditExportInput['selection']): string {
  if ('conversationIds' in selection) return `${selection.conversationIds.length} chosen conversations`;
  const conditions = Object.entries(selection.filter).filter(([, value]) => value !== undefined && value !== null);
  if (conditions.length === 0) return 'Everything that is recorded';
  return conditions
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('; ');
}

/** What the head of a page says of its pack. */
export function selectionFacts(plan: PackPlan, conversations: number): [name: string, text: string][] {
  const { rules, runs } = plan.input;
  return [
    ['As of', new Date(plan.createdAt).toISOString()],
    ['Conversations', String(conversations)],
    ['Selection', selectionText(redactedPlan(plan).selection)],
    ['Runs', runs === 'all' ? 'All runs of these conversations' : 'Only runs that meet the selection'],
    ['Replaced', rules.length === 0 ? 'Nothing' : rules.map(ruleText).join('; ')],
    ['Made by', `Touchstone ${plan.version}`],
    ['Pack', plan.id],
  ];
}
