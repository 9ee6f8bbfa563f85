import { ChevronDown, ChevronRight, Wrench } from 'lucide-react';
import { memo, type ReactNode, useId, useRef } from 'react';
import type { ToolCallCheck } from '../../../shared/contract/schemas.ts';
import type { ToolCall } from '../../../shared/contract/tools.ts';
import { isObject } from '../../../shared/json-schema.ts';
import { Badge, Spinner } from '../badges.tsx';
import { CopyButton } from '../button.tsx';
import { formatPlural, formatWhole } from '../format.ts';
import { Icon } from '../icon.tsx';
import { faultText, JsonTree, useJsonOutline } from '../json-tree/json-tree.tsx';
import { Notice } from '../state-panels.tsx';
import './tool-calls.css';

/** A longer text that is no JSON is cut: its layout would hold the window. */
const maxPlainCharacters = 100_000;

/** A card shows 14 rows; several cards stream at the same time. */
const maxPlainRows = 40;

export function CutText({ text, label }: { text: string; label: string }) {
  return (
    <>
      <pre className="call-card__plain mono">{text.slice(0, maxPlainCharacters)}</pre>
      {text.length > maxPlainCharacters && (
        <p className="row caption tertiary">
          First {formatWhole(maxPlainCharacters)} of {formatWhole(text.length)} characters
          <CopyButton text={text} label={`Copy ${label}`} size="small" />
        </p>
      )}
    </>
  );
}

interface CallArgumentsProps {
  label: string;
  text: string;
  isGrowing: boolean;
  check: ToolCallCheck | undefined;
}

/** What is wrong with the arguments besides the errors at their paths. */
function checkNotice({ isKnownTool, outcome, reason }: ToolCallCheck): string | null {
  if (!isKnownTool) return 'No tool of this run has this name.';
  if (outcome === 'unchecked') return 'Arguments not checked: too long or too complex.';
  return outcome === 'invalid-schema' ? reason : null;
}

/** The arguments as a tree, also while they stream; a text that is no JSON as it came. */
const CallArguments = memo(function CallArguments({ label, text, isGrowing, check }: CallArgumentsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const outline = useJsonOutline(text, isGrowing);
  const notice = check ? checkNotice(check) : null;
  const shown = text.trim();
  const isEmpty = shown === '' || (shown === '{}' && (check?.errors ?? []).length === 0);
  return (
    <>
      {notice !== null && <Notice tone="caution">{notice}</Notice>}
      {isEmpty && !isGrowing && <p className="small tertiary">No arguments</p>}
      {!isEmpty && outline.fault && (
        <>
          <Notice tone="negative">{faultText('the text', text, outline.fault)}</Notice>
          <CutText text={text} label={label} />
        </>
      )}
      {!isEmpty && !outline.fault && (
        <div ref={scroller} className="call-card__scroll scroll">
          <JsonTree
            label={label}
            outline={outline}
            scroller={scroller}
            errors={check?.errors}
            maxPlainRows={maxPlainRows}
          />
        </div>
      )}
    </>
  );
});

const maxSummaryCharacters = 120;

/** The arguments in one line. */
function summaryOf(text: string): string {
  if (text.length > 2000) return text.slice(0, maxSummaryCharacters);
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return text;
    const pairs = Object.entries(value).map(([name, part]) => `${name} ${JSON.stringify(part)}`);
    return pairs.join(', ').slice(0, maxSummaryCharacters);
  } catch {
    return text.slice(0, maxSummaryCharacters);
  }
}

/** Whether the arguments follow the tool's schema; nothing where they do or nothing is known. */
function CheckBadge({ check }: { check: ToolCallCheck }) {
  if (!check.isKnownTool) return <Badge tone="negative">Unknown tool</Badge>;
  if (check.outcome === 'not-json') return <Badge tone="negative">Not valid JSON</Badge>;
  if (check.outcome !== 'invalid') return null;
  return <Badge tone="negative">{formatPlural(check.errorCount, 'schema error')}</Badge>;
}

export interface CallCardProps {
  call: ToolCall;
  /** Tells the calls of an answer apart, such as "weather, call 2". */
  name: string;
  /** Whether the answer is incomplete, so that the arguments may be. */
  isGrowing?: boolean;
  /** Whether the next part is on its way. */
  isStreaming?: boolean;
  check?: ToolCallCheck | undefined;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  /** At the end of the head, such as where the result comes from. */
  end?: ReactNode;
  /** The result, below the arguments. */
  children?: ReactNode;
}

/** A call of a tool: its name, its arguments and what it returned. */
export function CallCard(props: CallCardProps) {
  const { call, name, isGrowing = false, isStreaming = false, check, isOpen, onOpenChange, end, children } = props;
  const bodyId = useId();
  return (
    // No landmark: each step may call the same tool.
    <div className="call-card" role="group" aria-label={`Tool call ${name}`}>
      <div className="call-card__head">
        <button
          type="button"
          className="row grow"
          aria-expanded={isOpen}
          aria-controls={isOpen ? bodyId : undefined}
          onClick={() => onOpenChange(!isOpen)}
        >
          <Icon icon={isOpen ? ChevronDown : ChevronRight} size="small" />
          <Icon icon={Wrench} size="small" />
          <span className="mono strong truncate">{call.name === '' ? 'Unnamed tool' : call.name}</span>
          {!isOpen && <span className="mono--small tertiary truncate">{summaryOf(call.arguments)}</span>}
        </button>
        {isStreaming && <Spinner />}
        {check && <CheckBadge check={check} />}
        {end}
      </div>
      {isOpen && (
        <div id={bodyId}>
          <CallPart title="Arguments">
            <CallArguments label={`Arguments of ${name}`} text={call.arguments} isGrowing={isGrowing} check={check} />
          </CallPart>
          {children}
        </div>
      )}
    </div>
  );
}

/** A part of a card with its title beside it. */
export function CallPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="call-card__part">
      <h3 className="caption tertiary">{title}</h3>
      <div className="call-card__value">{children}</div>
    </div>
  );
}

/** The names of calls: the tool's, with a number where an answer has several calls. */
export function callNames(calls: readonly Pick<ToolCall, 'name'>[]): string[] {
  if (calls.length === 1) return calls.map(({ name }) => name);
  return calls.map(({ name }, index) => `${name}, call ${index + 1}`);
}

/** A result that was sent: JSON as a tree, anything else as text. */
export function SentResult({ name, content }: { name: string; content: string }) {
  const scroller = useRef<HTMLDivElement>(null);
  const outline = useJsonOutline(content, false);
  const isTree = !outline.fault && /^\s*[[{]/.test(content);
  if (content === '') return <p className="small tertiary">Empty</p>;
  if (!isTree) return <CutText text={content} label={`result of ${name}`} />;
  return (
    <div ref={scroller} className="call-card__scroll scroll">
      <JsonTree label={`Result of ${name}`} outline={outline} scroller={scroller} maxPlainRows={maxPlainRows} />
    </div>
  );
}
