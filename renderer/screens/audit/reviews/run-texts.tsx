import { Flag } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import type { ConversationRun, RunStatus } from '../../../../shared/contract/conversations.ts';
import type { ImportedRun } from '../../../../shared/contract/review-items.ts';
import { Badge } from '../../../components/badges.tsx';
import { formatPlural, formatTime, formatWhole } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { LongText } from '../../../components/long-text.tsx';
import { MarkdownView } from '../../../components/markdown/markdown-view.tsx';
import { Notice } from '../../../components/state-panels.tsx';
import { useWasInView } from '../../../components/use-was-in-view.ts';
import { ConversationPart, countToolCalls, Passages, PromptPart, ToolCallsPart } from '../detail/run-parts.tsx';
import { statusWords } from '../list/conversation-list.tsx';

/** What is shown of a run. */
export type Part = 'conversation' | 'prompt' | 'passages' | 'calls';

/** A run of this device, of the team, or of a file. */
export interface ShownRun {
  readonly id: string;
  readonly createdAt: string;
  readonly model: string;
  /** Null for a run that came in a file. */
  readonly status: RunStatus | null;
  readonly isFlagged: boolean;
  readonly characters: number;
  readonly passages: number;
  readonly calls: number;
  readonly hasPrompt: boolean;
  readonly draw: (part: Part) => ReactNode;
}

function RunPart({ run, part }: { run: ConversationRun; part: Part }) {
  if (part === 'prompt') return <PromptPart run={run} />;
  if (part === 'passages') return <Passages run={run} />;
  if (part === 'calls') return <ToolCallsPart run={run} />;
  return <ConversationPart run={run} />;
}

export function storedRun(run: ConversationRun): ShownRun {
  const { conversationRunId, createdAt, model, status, input, output, citations, moderation } = run;
  const flags = [...(moderation?.prompt?.categories ?? []), ...(moderation?.answer?.categories ?? [])];
  return {
    id: conversationRunId,
    createdAt,
    model,
    status,
    isFlagged: flags.length > 0,
    characters: input.renderedPrompt.length + output.content.length,
    passages: citations.length,
    calls: countToolCalls(run),
    hasPrompt: true,
    draw: (part) => <RunPart run={run} part={part} />,
  };
}

function ImportedPassages({ run }: { run: ImportedRun }) {
  return run.passages.map(({ sourceName, text }, index) => (
    <article key={index} className="turn turn--note">
      <h3>Passage {index + 1}</h3>
      <p>
        <span className="secondary">{sourceName}.</span> {text}
      </p>
    </article>
  ));
}

/** What the queue file has no room for, so that nobody takes a part for the whole. */
function LeftOutNotice({ run: { leftOut } }: { run: ImportedRun }) {
  if (!leftOut) return null;
  const { inputCharacters, answerCharacters, passages, passageCharacters, earlierRuns } = leftOut;
  const parts = [
    earlierRuns > 0 && formatPlural(earlierRuns, 'earlier run'),
    inputCharacters > 0 && `${formatPlural(inputCharacters, 'character')} at the start of the input`,
    answerCharacters > 0 && `${formatPlural(answerCharacters, 'character')} at the end of the answer`,
    passages > 0 && formatPlural(passages, 'further passage'),
    passageCharacters > 0 && `${formatPlural(passageCharacters, 'character')} at the end of passages`,
  ].filter((part) => part !== false);
  return <Notice tone="caution">The queue file has no room for {parts.join(', ')}. You see only the rest.</Notice>;
}

function ImportedTexts({ run, part }: { run: ImportedRun; part: Part }) {
  const passages = <ImportedPassages run={run} />;
  if (part === 'passages') return passages;
  return (
    <>
      <LeftOutNotice run={run} />
      <article className="turn">
        <h3>Input</h3>
        <LongText className="turn__text" text={run.input} />
      </article>
      <article className="turn">
        <h3>Answer</h3>
        <div className="turn__body">
          {run.answer === '' ? (
            <p className="tertiary">The run has no answer.</p>
          ) : (
            <MarkdownView text={run.answer} isGrowing={false} />
          )}
        </div>
      </article>
      {passages}
    </>
  );
}

/** A run that came in a file, whose audit is on another machine. */
export function importedRun(run: ImportedRun): ShownRun {
  return {
    id: run.runId,
    createdAt: run.createdAt,
    model: run.model,
    status: null,
    isFlagged: false,
    characters: run.input.length + run.answer.length,
    passages: run.passages.length,
    calls: 0,
    hasPrompt: false,
    draw: (part) => <ImportedTexts run={run} part={part} />,
  };
}

export interface PartOption {
  readonly value: Part;
  readonly label: string;
}

/** The parts that any of the runs has; none to choose from if that is only the conversation. */
export function partsOf(runs: readonly ShownRun[]): PartOption[] {
  const sum = (of: (run: ShownRun) => number) => runs.reduce((total, run) => total + of(run), 0);
  const [passages, calls] = [sum((run) => run.passages), sum((run) => run.calls)];
  const more: PartOption[] = [
    ...(runs.some(({ hasPrompt }) => hasPrompt) ? [{ value: 'prompt' as const, label: 'Rendered prompt' }] : []),
    ...(passages > 0 ? [{ value: 'passages' as const, label: `Passages ${formatWhole(passages)}` }] : []),
    ...(calls > 0 ? [{ value: 'calls' as const, label: `Tool calls ${formatWhole(calls)}` }] : []),
  ];
  return more.length === 0 ? [] : [{ value: 'conversation', label: 'Conversation' }, ...more];
}

const hasPart = ({ passages, calls }: ShownRun, part: Part): boolean =>
  part === 'passages' ? passages > 0 : part === 'calls' ? calls > 0 : true;

/** Of a run that isn't drawn yet: lines of 80 characters between an input and an answer. The browser corrects what differs. */
const estimatedPixels = (characters: number): number => 120 + Math.min(20_000, Math.ceil(characters / 80) * 20);

interface RunSectionProps {
  run: ShownRun;
  number: number;
  count: number;
  part: Part;
  isMatch: boolean;
}

export const runSectionId = (runId: string): string => `review-run-${runId}`;

/** Near the view; memoized, because an answer may be long. */
const RunSection = memo(function RunSection({ run, number, count, part, isMatch }: RunSectionProps) {
  const { element, isShown } = useWasInView<HTMLElement>({ isEager: number === 1, marginPixels: 1500 });
  const { status } = run;
  return (
    <section
      ref={element}
      id={runSectionId(run.id)}
      className="review-run"
      aria-label={`Run ${formatWhole(number)} of ${formatWhole(count)}`}
    >
      <div className="review-run__head small" data-unquotable>
        <span className="medium nowrap">Run {formatWhole(number)}</span>
        <span className="tertiary nowrap">{formatTime(run.createdAt)}</span>
        <span className="tertiary truncate grow">{run.model}</span>
        {run.isFlagged && (
          <Badge tone="caution">
            <Icon icon={Flag} size="small" />
            Flagged
          </Badge>
        )}
        {isMatch && <Badge tone="accent">Newest match</Badge>}
        {status !== null && status !== 'Completed' && (
          <span className={statusWords[status].tone}>{statusWords[status].word}</span>
        )}
      </div>
      {isShown ? run.draw(part) : <div style={{ height: `${estimatedPixels(run.characters)}px` }} />}
    </section>
  );
});

interface RunTextsProps {
  runs: readonly ShownRun[];
  part: Part;
  /** The run whose feedback the result becomes. */
  matchId: string | null;
}

/** One run as it is, or all runs of a conversation below each other, of which the browser draws those near the view. */
export function RunTexts({ runs, part, matchId }: RunTextsProps) {
  const [only] = runs;
  if (runs.length === 1) return only!.draw(part);
  return runs.map((run, index) =>
    hasPart(run, part) ? (
      <RunSection
        key={run.id}
        run={run}
        number={index + 1}
        count={runs.length}
        part={part}
        isMatch={run.id === matchId}
      />
    ) : null,
  );
}
