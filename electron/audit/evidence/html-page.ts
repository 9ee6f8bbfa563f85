import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ExportColumn } from '../../../shared/contract/audit-exports.ts';
import { answerValue } from '../../../shared/contract/rubrics.ts';
import { citation, type Citation } from '../../../shared/contract/completions.ts';
import { message, type Message, type MessagePart } from '../../../shared/contract/messages.ts';
import { type ToolCall, toolCall } from '../../../shared/contract/tools.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { type Clock, createClock, type PackNames } from './pack-details.ts';
import type { ExportRecord } from './export-record.ts';

/** Enough conversations to search in, few enough for a browser to open and print. */
export const conversationsOfPage = 250;

/** The details of the pack at the top of every page. */
export interface PageHead {
  readonly name: string;
  /** Lines with a name and a text. */
  readonly details: readonly (readonly [name: string, text: string])[];
  readonly pages: number;
  /** IANA name. */
  readonly timeZone: string;
}

const style = `
:root { color-scheme: light; --line: #d8dadf; --quiet: #5b6070; --ground: #f6f7f9; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem; font: 15px/1.5 system-ui, sans-serif; color: #16181d; background: #fff; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; padding-top: 1rem; border-top: 2px solid #16181d; }
h3 { font-size: .8rem; margin: 1rem 0 .25rem; color: var(--quiet); font-weight: 600; }
p { margin: 0 0 .5rem; } .quiet, small { color: var(--quiet); } small { display: block; font-size: .8em; } nav { display: flex; gap: 1rem; margin: 1rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; font-size: .85rem; }
article dl { grid-template-columns: max-content 1fr max-content 1fr; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
article { border: 1px solid var(--line); border-radius: 6px; padding: 1rem; margin: 1rem 0; }
article.matched { border-left: 4px solid #3457d5; }
pre { font: 13px/1.5 ui-monospace, monospace; background: var(--ground); border-radius: 4px; margin: 0; padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } nav { display: none; } pre { font-size: 9pt; border: 1px solid var(--line); } h2, h3 { break-after: avoid; } }
`;

/** Allows only the page's own style, so that a model's text can't load scripts or images. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}

/** `evidence.html`, `evidence-0002.html` and so on; the first page is number 1. */
export function pageName(page: number): string {
  return page === 1 ? 'evidence.html' : `evidence-${String(page).padStart(4, '0')}.html`;
}

function links(page: number, pages: number): string {
  if (pages === 1) return '';
  const link = (to: number, text: string) => (to < 1 || to > pages ? '' : `<a href="${pageName(to)}">${text}</a>`);
  const location = `<span class="quiet">Page ${page} of ${pages}</span>`;
  return `<nav>${link(page - 1, 'Previous page')}${location}${link(page + 1, 'Next page')}</nav>\n`;
}

export function pageStart(head: PageHead, page: number): string {
  const details = head.details.map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width">
<title>${escaped(head.name)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(head.name)}</h1>
<dl>
${details}
</dl>
${links(page, head.pages)}`;
}

export function pageEnd(head: PageHead, page: number): string {
  return `${links(page, head.pages)}</body>\n</html>\n`;
}

/** Columns that are shown as blocks of text, with their labels. */
const blocks: Readonly<Partial<Record<ExportColumn, string>>> = {
  systemMessage: 'System message',
  promptText: 'Prompt template',
  replacements: 'Variables',
  renderedPrompt: 'Final prompt',
  messages: 'Final prompt',
  content: 'Answer',
  toolCalls: 'Tool calls',
  reasoning: 'Reasoning',
  errorMessage: 'Error',
  configuration: 'Configuration',
  appHeaders: 'Headers',
  metadata: 'Metadata',
  citations: 'Citations',
  warnings: 'Warnings',
  moderation: 'Moderation',
  feedbackText: 'Feedback',
  feedbackHistory: 'Feedback history',
};

const passageList = z.array(citation);

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Labels of short columns that differ from their names. */
const columnLabels: Readonly<Partial<Record<ExportColumn, string>>> = {
  runId: 'Run ID',
  messageId: 'Message ID',
  matched: 'Matches filter',
  createdAt: 'Created',
  completedAt: 'Completed',
  callerId: 'Caller',
  workspaceId: 'Workspace ID',
  promptId: 'Prompt',
  promptVersionId: 'Prompt version',
  dataspaceIds: 'Dataspaces',
  callerSupplied: 'Set by the caller, not verified',
  aiSystem: 'Provider',
  rawUsage: 'Usage from the provider',
  cost: 'Cost (USD)',
  firstTokenMs: 'First token (ms)',
  totalMs: 'Duration (ms)',
  feedbackAt: 'Feedback given',
};

/** `promptTokens` becomes `Prompt tokens`. */
function label(column: ExportColumn): string {
  const known = columnLabels[column];
  if (known !== undefined) return known;
  const words = column.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A passage as a quotation: its source, then its text. */
function passageText({ index, sourceName, page, relevance, text }: Citation): string {
  const location = [sourceName, page === undefined ? null : `page ${page}`, `relevance ${relevance.toFixed(2)}`];
  return `[${index}] ${location.filter((part) => part !== null).join(', ')}\n${text}`;
}

const messageList = z.array(message).min(1);

const callList = z.array(toolCall).min(1);

function callText({ id, name, arguments: text }: ToolCall): string {
  return `Call of ${name} (${id}):\n${text}`;
}

function partText(part: MessagePart): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'toolCall') return callText(part);
  if (part.type === 'file') return JSON.stringify(part, null, 2);
  return `${part.isError ? 'Error result' : 'Result'} of ${part.toolCallId}:\n${part.content}`;
}

function messageText({ role, content }: Message): string {
  const parts = content.map(partText);
  return `${role.charAt(0).toUpperCase()}${role.slice(1)}:\n${parts.join('\n')}`;
}

const text = z.string().nullable();
const historyEntry = { id: z.string(), reviewer: text, note: text, createdAt: z.string(), replaces: text };

const feedbackEntries = z.array(
  z.union([
    z.strictObject({ ...historyEntry, score: z.int().nullable(), scoreTags: text }),
    z.strictObject({ ...historyEntry, rubricItemId: z.string(), question: text, value: answerValue }),
  ]),
);
type HistoryEntry = z.infer<typeof feedbackEntries>[number];

function saidIn(entry: HistoryEntry): (string | null)[] {
  if ('score' in entry) return [entry.score === null ? 'no score' : `score ${entry.score}`, entry.scoreTags];
  return [`${entry.question ?? `item ${entry.rubricItemId}`} ${textOf(entry.value, false)}`];
}

function historyText(entries: readonly HistoryEntry[]): string {
  const times = new Map(entries.map(({ id, createdAt }) => [id, createdAt]));
  const described = entries.map((entry) => {
    const { reviewer, note, createdAt, replaces: replaced } = entry;
    const [said, ...more] = saidIn(entry);
    const replacement = replaced === null ? null : `Replaces the entry of ${times.get(replaced) ?? replaced}`;
    const parts = [`${createdAt}, ${reviewer ?? 'unknown reviewer'}: ${said}`, ...more, note, replacement];
    return parts.filter((part) => part != null).join('\n');
  });
  return described.join('\n\n');
}

function textOf(value: unknown, isBlock: boolean): string {
  const messages = isBlock ? messageList.safeParse(value) : null;
  if (messages?.success) return messages.data.map(messageText).join('\n\n');
  const calls = isBlock ? callList.safeParse(value) : null;
  if (calls?.success) return calls.data.map(callText).join('\n\n');
  const entries = isBlock ? feedbackEntries.safeParse(value) : null;
  if (entries?.success) return historyText(entries.data);
  const passages = passageList.safeParse(value);
  if (passages.success) return passages.data.map(passageText).join('\n\n');
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : JSON.stringify(value, null, isBlock ? 2 : 0);
}

interface ShownRun {
  readonly record: ExportRecord;
  readonly names: PackNames;
  readonly clock: Clock;
}

/** A readable form of a value, with the value in small print below; null for a value that is readable itself. */
function readableOf(column: ExportColumn, value: unknown, { names, clock }: ShownRun): string | null {
  if (column === 'createdAt' || column === 'completedAt' || column === 'feedbackAt') return clock(value as string);
  if (column === 'callerId') return names.caller;
  if (column === 'promptId') return names.prompt;
  if (column === 'promptVersionId') return names.promptVersion;
  return null;
}

const named = (name: string | null | undefined, id: string): string =>
  name === null || name === undefined ? escaped(id) : `${escaped(name)}<small>${escaped(id)}</small>`;

function detailHtml(column: ExportColumn, value: unknown, run: ShownRun): string {
  if (column === 'aiSystem') return escaped(providerName(value as AiSystem));
  if (column === 'dataspaceIds') return (value as string[]).map((id) => named(run.names.dataspaces[id], id)).join('');
  if (column === 'callerSupplied') return escaped((value as string[]).join(', '));
  return named(readableOf(column, value, run), textOf(value, false));
}

function runArticle(run: ShownRun): string {
  const { record, names } = run;
  const details: string[] = [];
  const texts: string[] = [];
  for (const [column, value] of Object.entries(record) as [ExportColumn, unknown][]) {
    if (column === 'conversationId' || column === 'conversationName' || isEmpty(value)) continue;
    // The messages contain more than their joined text.
    if (column === 'renderedPrompt' && !isEmpty(record.messages)) continue;
    const title = blocks[column];
    if (title !== undefined) texts.push(`<h3>${title}</h3>\n<pre dir="auto">${escaped(textOf(value, true))}</pre>`);
    else details.push(`<dt>${escaped(label(column))}</dt><dd dir="auto">${detailHtml(column, value, run)}</dd>`);
    if (column === 'callerId' && names.agent !== null)
      details.push(`<dt>Agent</dt><dd dir="auto">${escaped(names.agent)}</dd>`);
  }
  const mark = record.matched === true ? ' class="matched"' : '';
  return `<article${mark}>\n<dl>${details.join('\n')}</dl>\n${texts.join('\n')}\n</article>\n`;
}

export interface ConversationSection {
  readonly position: number;
  readonly records: readonly ExportRecord[];
  /** The names of each record, by index. Missing entries have no names. */
  readonly names: readonly PackNames[];
  readonly timeZone: string;
}

const noNames: PackNames = { caller: null, prompt: null, promptVersion: null, agent: null, dataspaces: {} };

/** A conversation with its runs, oldest first. `position` counts the conversations of the pack from 1. */
export function conversationSection({ position, records, names, timeZone }: ConversationSection): string {
  const clock = createClock(timeZone);
  const [first] = records;
  const name = typeof first?.conversationName === 'string' ? first.conversationName : '';
  const id = typeof first?.conversationId === 'string' ? `<p class="quiet">${escaped(first.conversationId)}</p>\n` : '';
  const articles = records.map((record, index) => runArticle({ record, names: names[index] ?? noNames, clock }));
  const title = name === '' ? `Conversation ${position}` : `${position}. ${name}`;
  return `<section>\n<h2 dir="auto">${escaped(title)}</h2>\n${id}${articles.join('')}</section>\n`;
}
