import { type ComponentType, type KeyboardEvent, memo, useState } from 'react';
import type { ToolCallCheck } from '../../../shared/contract/schemas.ts';
import type { ToolCall, ToolResult } from '../../../shared/contract/tools.ts';
import { parseJson } from '../../drafts/json-text.ts';
import { useToolCallChecks } from '../../queries/runs.ts';
import {
  collectResults,
  type TypedResult,
  type TypedResults,
  typeResult,
  untypeResult,
  useToolResults,
} from '../../stores/tool-results.ts';
import { Badge } from '../badges.tsx';
import { Button } from '../button.tsx';
import { Checkbox } from '../choices.tsx';
import { formatWhole } from '../format.ts';
import { PlainEditor } from '../editor/code-editor.tsx';
import { isMac } from '../key-caps.tsx';
import { Notice } from '../state-panels.tsx';
import { CallCard, callNames, CallPart, SentResult } from './call-card.tsx';

/** More cards than this are closed at first. */
const maxOpenCalls = 6;

const noTyped: TypedResults = {};

/** Longer texts aren't parsed with each key press. */
const maxCheckedCharacters = 100_000;

/** Longer results get an editor that draws only what is in view. It takes too long to make for each of several calls. */
const maxFieldCharacters = 20_000;

/** An editor of a longer text takes more than a few frames to make. */
const maxEditorCharacters = 500_000;

function jsonNote(text: string): string | null {
  if (text.length > maxCheckedCharacters) return null;
  return /^\s*[[{]/.test(text) && !('value' in parseJson(text)) ? 'Not valid JSON. Sent as text' : null;
}

interface ResultFieldProps {
  name: string;
  result: TypedResult;
  isMissing: boolean;
  onResultChange: (result: TypedResult) => void;
  /** Puts the result of the mock in place of the typed one; null where there is none. */
  onReset: (() => void) | null;
}

interface ResultTextProps {
  label: string;
  text: string;
  onTextChange: (text: string) => void;
}

/** A result that is too long to edit: its beginning. All of it is sent. */
function ResultPreview({ label, text, onTextChange }: ResultTextProps) {
  return (
    <div className="call-card__result" role="group" aria-label={label}>
      <pre className="call-card__plain mono" tabIndex={0}>
        {text.slice(0, maxFieldCharacters)}
      </pre>
      <p className="row caption tertiary">
        First {formatWhole(maxFieldCharacters)} of {formatWhole(text.length)} characters. All of them are sent.
        <Button size="small" onClick={() => onTextChange('')}>
          Clear
        </Button>
      </p>
    </div>
  );
}

function ResultText({ label, text, onTextChange }: ResultTextProps) {
  const [hasLong, setHasLong] = useState(false);
  if (text.length > maxEditorCharacters) return <ResultPreview {...{ label, text, onTextChange }} />;
  if (hasLong || text.length > 2 * maxFieldCharacters) {
    return <PlainEditor className="call-card__result" label={label} value={text} onValueChange={onTextChange} />;
  }
  return (
    <textarea
      className="call-card__result mono"
      aria-label={label}
      placeholder="Text or JSON"
      rows={2}
      spellCheck={false}
      value={text}
      onChange={(event) => onTextChange(event.target.value)}
      onPaste={(event) => {
        const pasted = event.clipboardData.getData('text/plain');
        if (pasted.length <= maxFieldCharacters) return;
        event.preventDefault();
        const { selectionStart, selectionEnd } = event.currentTarget;
        setHasLong(true);
        onTextChange(text.slice(0, selectionStart) + pasted + text.slice(selectionEnd));
      }}
    />
  );
}

/** Where a person enters what a tool returned. */
function ResultField({ name, result, isMissing, onResultChange, onReset }: ResultFieldProps) {
  const { content, isError = false } = result;
  const note = isMissing ? 'Enter a result' : jsonNote(content);
  return (
    <CallPart title="Result">
      <div className={isMissing ? 'field field--area is-invalid' : 'field field--area'}>
        <ResultText
          label={`Result of ${name}`}
          text={content}
          onTextChange={(text) => onResultChange({ content: text, isError })}
        />
      </div>
      <div className="row">
        <Checkbox
          label="Is an error"
          isChecked={isError}
          onCheckedChange={(checked) => onResultChange({ content, isError: checked })}
        />
        {note !== null && <span className={isMissing ? 'caption negative' : 'caption caution'}>{note}</span>}
        <span className="grow" />
        {onReset && (
          <Button size="small" variant="quiet" onClick={onReset}>
            Use mock
          </Button>
        )}
      </div>
    </CallPart>
  );
}

type ResultOrigin = 'hand' | 'hand instead of mock' | 'mock' | 'none';

function originOf({ id }: ToolCall, typed: TypedResults, mocked: readonly ToolResult[]): ResultOrigin {
  const hasMock = mocked.some(({ toolCallId }) => toolCallId === id);
  if (Object.hasOwn(typed, id)) return hasMock ? 'hand instead of mock' : 'hand';
  return hasMock ? 'mock' : 'none';
}

interface StepCallProps {
  call: ToolCall;
  name: string;
  runId: string | null;
  /** Null while there is none. */
  result: TypedResult | null;
  /** Where the result of the newest step comes from; null for the results that were sent. */
  origin: ResultOrigin | null;
  check: ToolCallCheck | undefined;
  isGrowing: boolean;
  isStreaming: boolean;
  canEdit: boolean;
  isMissing: boolean;
  /** Only one of the missing results opens: 128 at once would hold the window. */
  isOpenIfMissing: boolean;
  isOpenAtFirst: boolean;
}

/** Drawn again only when something of the call itself changes: an answer may have 128 calls. */
const StepCall = memo(function StepCall(props: StepCallProps) {
  const { call, name, runId, result, origin, canEdit, isMissing, isOpenIfMissing, isOpenAtFirst } = props;
  const [chosen, setOpen] = useState<boolean | null>(null);
  const isOpen = chosen ?? (isOpenAtFirst || (isMissing && isOpenIfMissing));
  return (
    <CallCard
      call={call}
      name={name}
      isGrowing={props.isGrowing}
      isStreaming={props.isStreaming}
      check={props.check}
      isOpen={isOpen}
      onOpenChange={setOpen}
      end={
        <>
          {result?.isError && <Badge tone="caution">Error result</Badge>}
          {origin === 'mock' && <span className="caption tertiary">From mock</span>}
          {origin === 'none' && !isOpen && (
            <span className={isMissing ? 'caption negative' : 'caption tertiary'}>No result</span>
          )}
        </>
      }
    >
      {canEdit && runId !== null && (
        <ResultField
          name={name}
          result={result ?? { content: '' }}
          isMissing={isMissing}
          onResultChange={(next) => {
            // The result is no longer missing, but its field has the focus.
            setOpen(true);
            typeResult(runId, call.id, next);
          }}
          onReset={origin === 'hand instead of mock' ? () => untypeResult(runId, call.id) : null}
        />
      )}
      {!canEdit && result !== null && (
        <CallPart title="Result">
          <SentResult name={name} content={result.content} />
        </CallPart>
      )}
    </CallCard>
  );
});

function resultOf({ id }: ToolCall, typed: TypedResults, sent: readonly ToolResult[]): TypedResult | null {
  if (Object.hasOwn(typed, id)) return typed[id]!;
  return sent.find(({ toolCallId }) => toolCallId === id) ?? null;
}

function missingText(missing: readonly ToolCall[], calls: readonly ToolCall[]): string {
  const names = callNames(calls);
  const listed = missing.slice(0, 5).map((call) => names[calls.indexOf(call)]);
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : '';
  return `Enter a result for ${listed.join('; ')}${more}.`;
}

/** Ctrl+Enter, or Cmd+Enter on a Mac. */
function isContinueKey({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key === 'Enter' && (isMac ? metaKey : ctrlKey) && !altKey && !shiftKey;
}

export interface StepFootProps {
  isNewest: boolean;
  runId: string | null;
  onContinue: () => void;
}

export interface CallStepProps {
  /** The run that called the tools; null while it is unknown. */
  runId: string | null;
  calls: readonly ToolCall[];
  /** What was sent, or what mocks return for the newest step. */
  sent: readonly ToolResult[];
  isGrowing: boolean;
  isStreaming: boolean;
  isNewest: boolean;
  /** Absent where the run can't be continued. */
  onContinue?: ((results: readonly ToolResult[]) => void) | undefined;
  /** Has the button that continues. */
  Foot: ComponentType<StepFootProps>;
}

/** The calls of one answer side by side, with their results. */
export function CallStep(props: CallStepProps) {
  const { runId, calls, sent, isGrowing, isStreaming, isNewest, onContinue, Foot } = props;
  const typed = useToolResults(({ byRun }) => (runId === null ? undefined : byRun[runId])) ?? noTyped;
  const checks = useToolCallChecks(isGrowing ? null : runId).data;
  const [showsMissing, setShowsMissing] = useState(false);
  const { results, missing } = collectResults(calls, typed, sent);
  const isEdited = results.some(
    ({ content, isError }, index) => content !== sent[index]?.content || isError !== sent[index].isError,
  );
  const names = callNames(calls);
  const continueRun = (): void => {
    setShowsMissing(true);
    if (missing.length === 0) onContinue?.(results);
  };
  const isOffered = onContinue !== undefined && (isNewest || isEdited || missing.length > 0);
  return (
    <div
      role="group"
      aria-label="Tool calls"
      onKeyDown={(event) => {
        if (!isOffered || !isContinueKey(event)) return;
        event.preventDefault();
        continueRun();
      }}
    >
      <div className="calls">
        {calls.map((call, index) => (
          <StepCall
            key={index}
            call={call}
            name={names[index]!}
            runId={runId}
            result={resultOf(call, typed, sent)}
            origin={isNewest && onContinue ? originOf(call, typed, sent) : null}
            check={checks?.[index]}
            isGrowing={isGrowing}
            isStreaming={isStreaming && index === calls.length - 1}
            canEdit={onContinue !== undefined}
            isMissing={showsMissing && missing.includes(call)}
            isOpenIfMissing={missing[0] === call}
            isOpenAtFirst={isNewest && calls.length <= maxOpenCalls}
          />
        ))}
      </div>
      {isOffered && (
        <>
          {showsMissing && missing.length > 0 && <Notice tone="negative">{missingText(missing, calls)}</Notice>}
          <Foot isNewest={isNewest} runId={runId} onContinue={continueRun} />
        </>
      )}
    </div>
  );
}
