import { type AuditExportInput, type RedactionRule, replacementOf } from '../../../shared/contract/audit-exports.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { ExportRow, ExportRows } from '../../storage/export-rows.ts';
import { sampleCallerName } from '../samples/sample-callers.ts';
import type { PackPlan } from './pack-store.ts';
import { createRedactor, type Redactor } from './redaction.ts';

/** Formats a time in a time zone: `22 Nov 2026, 03:12:45 CET`. */
export type Clock = (timestamp: string) => string;

/** The pack stores its time zone, so that it has equal bytes on every machine. */
export function createClock(timeZone: string): Clock {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  });
  return (timestamp) => format.format(new Date(timestamp));
}

/** The names beside the ids of a run in the HTML pages. People wrote them, so the rules apply to them, too. */
export interface PackNames {
  readonly caller: string | null;
  readonly prompt: string | null;
  readonly promptVersion: string | null;
  readonly agent: string | null;
  /** By id. */
  readonly dataspaces: Readonly<Record<string, string>>;
}

/** Far more than a pack needs at a time. The runs of a million agents must not fill the memory. */
const maxCachedNames = 10_000;

/** Finds the current names for a run. */
export function createNameReader(rows: ExportRows, redactor: Redactor): (row: ExportRow) => PackNames {
  const known = new Map<string, string | null>();

  function cached(kind: string, id: string | null, read: (id: string) => string | null): string | null {
    if (id === null) return null;
    const key = `${kind} ${id}`;
    let name = known.get(key);
    if (name === undefined) {
      const found = read(id);
      name = found === null ? null : redactor.text(found);
      if (known.size >= maxCachedNames) known.clear();
      known.set(key, name);
    }
    return name;
  }

  return (row) => {
    const dataspaceIds = row.dataspace_ids_json === null ? [] : (JSON.parse(row.dataspace_ids_json) as string[]);
    const dataspaces = dataspaceIds.flatMap((id) => {
      const name = cached('dataspace', id, rows.names.dataspace);
      return name === null ? [] : [[id, name] as const];
    });
    return {
      caller: cached('caller', row.caller_id, (id) => rows.names.caller(id) ?? sampleCallerName(id)),
      prompt: cached('prompt', row.prompt_id, rows.names.prompt),
      promptVersion: cached('version', row.prompt_version_id, rows.names.promptVersion),
      agent: cached('agent', row.agent_id, rows.names.agent),
      dataspaces: Object.fromEntries(dataspaces),
    };
  };
}

/** Parts of a filter that people or programs wrote; the others are ids, names of models, numbers and dates. */
const writtenFields = ['text', 'appHeaders', 'feedback', 'tags', 'clients'] as const;

/** The selection and the name that the pack contains. The rules apply to search terms, too. */
export function redactedPlan({ name, input }: PackPlan): { name: string; selection: AuditExportInput['selection'] } {
  const redactor = createRedactor(input.rules);
  const { selection } = input;
  if (!('filter' in selection)) return { name: redactor.text(name), selection };
  const filter: Record<string, unknown> = { ...selection.filter };
  for (const field of writtenFields) {
    if (filter[field] !== undefined) filter[field] = redactor.value(filter[field]);
  }
  return { name: redactor.text(name), selection: { ...selection, filter } };
}

const ruleNames = {
  secret: 'keys and tokens',
  email: 'email addresses',
  phone: 'phone numbers',
  card: 'card numbers',
  account: 'account numbers',
};

function ruleText(rule: RedactionRule): string {
  return `${rule.kind === 'pattern' ? rule.name : ruleNames[rule.kind]} as ${replacementOf(rule)}`;
}

/** Labels of the parts of a filter. */
const filterNames: Readonly<Record<string, string>> = {
  callerId: 'Caller',
  callerIds: 'Caller',
  startDate: 'From',
  endDate: 'Until',
  appHeaders: 'Headers',
  promptId: 'Prompt',
  promptVersionId: 'Prompt version',
  promptRunId: 'Prompt run',
  conversationRunId: 'Run',
  conversationId: 'Conversation',
  workspaceId: 'Workspace',
  feedback: 'Feedback',
  text: 'Text',
  textIn: 'Text in',
  agentId: 'Agent',
  aiSystems: 'Provider',
  models: 'Model',
  statuses: 'Status',
  origins: 'Origin',
  clients: 'Program',
  importId: 'Import',
  finishReasons: 'Finish reason',
  errorCodes: 'Error',
  moderationFlags: 'Moderation flag',
  hasFeedback: 'Has feedback',
  score: 'Score',
  tags: 'Tags',
  totalMs: 'Latency (ms)',
  firstTokenMs: 'First token (ms)',
  cost: 'Cost (USD)',
  totalTokens: 'Tokens',
};

function valueText(field: string, value: unknown, names: ExportRows['names'], clock: Clock): string {
  if (Array.isArray(value)) {
    const texts = value.map((item) => valueText(field, item, names, clock));
    return texts.join(field === 'tags' ? ' and ' : ' or ');
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'string') return JSON.stringify(value);
  const named = (name: string | null) => (name === null ? value : `${name} (${value})`);
  if (field === 'callerId' || field === 'callerIds') return named(names.caller(value) ?? sampleCallerName(value));
  if (field === 'promptId') return named(names.prompt(value));
  if (field === 'promptVersionId') return named(names.promptVersion(value));
  if (field === 'agentId') return named(names.agent(value));
  if (field === 'aiSystems') return providerName(value as AiSystem);
  if (field === 'startDate' || field === 'endDate') return `${clock(value)} (${value})`;
  return value;
}

function selectionText(selection: AuditExportInput['selection'], names: ExportRows['names'], clock: Clock): string {
  const ofTeam = selection.source === 'team' ? ' of the team' : '';
  if ('conversationIds' in selection) return `${selection.conversationIds.length} selected conversations${ofTeam}`;
  const conditions = Object.entries(selection.filter).filter(([, value]) => value !== undefined && value !== null);
  if (conditions.length === 0) return `All recorded conversations${ofTeam}`;
  const text = conditions
    .map(([name, value]) => `${filterNames[name] ?? name}: ${valueText(name, value, names, clock)}`)
    .join('; ');
  return ofTeam === '' ? text : `Runs of the team; ${text}`;
}

/** Packs of earlier versions have no time zone. Their pages stay in UTC. */
export function timeZoneOf({ input }: PackPlan): string {
  return (input as Partial<PackPlan['input']>).timeZone ?? 'UTC';
}

/** The details of a pack for the top of its pages. */
export function selectionDetails(
  plan: PackPlan,
  conversations: number,
  names: ExportRows['names'],
): [name: string, text: string][] {
  const { rules, runs, files } = plan.input;
  const timeZone = timeZoneOf(plan);
  const clock = createClock(timeZone);
  const redactor = createRedactor(rules);
  const createdAt = new Date(plan.createdAt).toISOString();
  return [
    ['Created', `${clock(createdAt)} (${createdAt})`],
    ['Time zone', timeZone === 'UTC' ? 'UTC' : `${timeZone}, with UTC in parentheses`],
    ['Conversations', String(conversations)],
    ['Scope', redactor.text(selectionText(redactedPlan(plan).selection, names, clock))],
    ['Runs', runs === 'all' ? 'All runs of these conversations' : 'Matching runs only'],
    ['Redacted', rules.length === 0 ? 'Nothing' : rules.map(ruleText).join('; ')],
    ['Files of prompts', files ? 'Included unchanged, as file-<fileId>' : 'Not included'],
    ['Created with', `Touchstone ${plan.version}`],
    ['Pack ID', plan.id],
  ];
}
