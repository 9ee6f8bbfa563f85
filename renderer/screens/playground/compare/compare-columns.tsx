import { Play, Square, X } from 'lucide-react';
import { memo, type RefObject, useCallback, useEffect, useMemo, useRef } from 'react';
import { Button, CopyButton, IconButton } from '../../../components/button.tsx';
import { modelLocation } from '../../../components/models/model-list.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { getActiveDraft, useActiveDraft, useDrafts, type ComparedColumn } from '../../../stores/playground-drafts.ts';
import { columnSlot } from '../../../stores/completion-runs.ts';
import { isActive } from '../../../stores/run-stream.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { AnswerBody, type RemedyActions } from '../answer/answer-body.tsx';
import { MetricsBar, RunStateBadge } from '../answer/run-status.tsx';
import { isRatable, RateAnswer, useAnswerActions } from '../answer/rate-answer.tsx';
import { isSameButLonger, type ShownRun } from '../answer/shown-run.ts';
import type { Comparison } from './use-comparison.ts';
import { useComparison, useOpenParts, useRunControls } from '../session/playground-session.tsx';
import { useAnswer, useChosenModel, useReadText, useShownRun } from '../session/use-runner.ts';
import './compare.css';

/**
 * Scrolls all texts to the same share of their length as the one that the reader scrolls. A text that scrolls without the reader, as
 * one that follows its growing end does, moves no other. `addText` adds a text and returns the function that removes it.
 */
export function useLinkedScroll(isLinked: boolean): {
  container: RefObject<HTMLDivElement | null>;
  addText: (text: HTMLElement) => () => void;
} {
  const container = useRef<HTMLDivElement>(null);
  const texts = useRef(new Set<HTMLElement>());
  const addText = useCallback((text: HTMLElement) => {
    const all = texts.current;
    all.add(text);
    return () => void all.delete(text);
  }, []);
  useEffect(() => {
    const element = container.current;
    if (!element || !isLinked) return;
    let reader: Element | null = null;
    const onInput = ({ target }: Event): void => {
      reader = [...texts.current].find((text) => target instanceof Node && text.contains(target)) ?? null;
    };
    const onScroll = ({ target }: Event): void => {
      if (!(target instanceof Element) || target !== reader) return;
      const room = target.scrollHeight - target.clientHeight;
      if (room <= 0) return;
      const share = target.scrollTop / room;
      for (const other of texts.current) {
        if (other !== target) other.scrollTop = Math.round(share * (other.scrollHeight - other.clientHeight));
      }
    };
    const inputs = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const;
    for (const name of inputs) element.addEventListener(name, onInput, { capture: true, passive: true });
    element.addEventListener('scroll', onScroll, { capture: true, passive: true });
    return () => {
      for (const name of inputs) element.removeEventListener(name, onInput, { capture: true });
      element.removeEventListener('scroll', onScroll, { capture: true });
    };
  }, [isLinked]);
  return { container, addText };
}

interface ColumnProps extends AnswerProps {
  /** From 1; tells two columns of the same model apart. */
  number: number;
  title: string;
  model: Model | null;
  run: ShownRun | null;
  actions: RemedyActions;
  onStop: () => void;
  /** Absent for the draft's own answer. */
  onRemove?: () => void;
}

function columnName({ number, title }: Pick<ColumnProps, 'number' | 'title'>): string {
  return `Answer ${number}, ${title}`;
}

type ColumnHeaderProps = Omit<ColumnProps, 'addText'> & { readText: () => string };

function isSameHeader({ run, ...one }: ColumnHeaderProps, { run: other, ...two }: ColumnHeaderProps): boolean {
  const names = Object.keys(two) as (keyof typeof two)[];
  return isSameButLonger(run, other) && names.every((name) => Object.is(one[name], two[name]));
}

/** It renders with the state of the run, not with its tokens. */
const ColumnHeader = memo(function ColumnHeader(props: ColumnHeaderProps) {
  const { number, title, model, run, actions, readText, onStop, onRemove } = props;
  const isRunning = isActive(run);
  return (
    <div className="compared__head">
      <div className="row">
        <Button
          variant="quiet"
          size="small"
          className="compared__model"
          aria-label={`${columnName(props)}: choose another model`}
          onClick={actions.pickModel}
        >
          <span className="truncate">{title}</span>
        </Button>
        <span className="grow" />
        {isRunning && <IconButton icon={Square} label={`Stop answer ${number}`} size="small" onClick={onStop} />}
        {!isRunning && (
          <IconButton icon={Play} label={`Run answer ${number}`} size="small" onClick={actions.runAgain} />
        )}
        <CopyButton
          text={readText}
          label={`Copy answer ${number}`}
          isIconOnly
          size="small"
          disabled={!run || run.text === ''}
        />
        {onRemove && <IconButton icon={X} label={`Remove answer ${number}`} size="small" onClick={onRemove} />}
      </div>
      <div className="row compared__state">
        {model && <span className="caption tertiary truncate">{modelLocation(model)}</span>}
        <span className="grow" />
        <div className="compared__mark" role="status">
          {run && <RunStateBadge run={run} />}
        </div>
      </div>
    </div>
  );
}, isSameHeader);

function Column(props: ColumnProps) {
  const { number, run, actions, addText } = props;
  const name = columnName(props);
  const column = useRef<HTMLElement>(null);
  return (
    <section ref={column} className="panel compared__column" aria-label={name}>
      <ColumnHeader {...props} readText={useReadText(run)} />
      {run ? (
        <>
          <AnswerBody run={run} title={name} actions={actions} onScroller={addText} />
          <div className="compared__foot">
            <MetricsBar metrics={run.metrics} isColumn />
            {isRatable(run) && (
              <RateAnswer
                key={run.runId}
                conversationId={run.conversationId}
                runId={run.runId}
                scope={column}
                compactLabel={`Rate answer ${number}`}
              />
            )}
          </div>
        </>
      ) : (
        <p className="compared__empty small secondary">Not run yet</p>
      )}
    </section>
  );
}

interface AnswerProps {
  addText: (text: HTMLElement) => () => void;
}

function columnControls(id: string, comparison: Comparison, install: () => void) {
  const runAgain = () => comparison.runColumn(id);
  const pickModel = () => comparison.changeModel(id);
  const installModel = () => {
    install();
    comparison.runColumn(id);
  };
  const onStop = () => comparison.stopColumn(id);
  return { actions: { runAgain, pickModel, installModel }, onStop, onRemove: () => comparison.remove(id) };
}

/** One column beside the draft's own. It reads its run from the store, so that its tokens render nothing else. */
function ComparedAnswer({ column, number, addText }: AnswerProps & { column: ComparedColumn; number: number }) {
  const draftId = useDrafts((state) => getActiveDraft(state).id);
  const comparison = useComparison();
  const { install } = useRunControls();
  const model = useChosenModel(column);
  const run = useShownRun(columnSlot(draftId, column.id), column.runId, model);
  const controls = useMemo(() => columnControls(column.id, comparison, install), [column.id, comparison, install]);
  return (
    <Column
      number={number}
      title={column.isGrounded ? column.model : 'Without grounding'}
      model={model}
      run={run}
      {...controls}
      addText={addText}
    />
  );
}

function OwnAnswer({ addText }: AnswerProps) {
  const { columns } = useComparison();
  const { runOwn, stopOwn } = useRunControls();
  const { open } = useOpenParts();
  const { aiSystem, model } = useActiveDraft();
  const run = useAnswer();
  const actions = useMemo(
    () => ({ runAgain: runOwn, pickModel: () => open('model-picker'), installModel: runOwn }),
    [open, runOwn],
  );
  const isByGrounding = columns.some(({ isGrounded }) => !isGrounded);
  useAnswerActions(run);
  return (
    <Column
      number={1}
      title={isByGrounding ? 'With grounding' : model}
      model={useChosenModel({ aiSystem, model })}
      run={run}
      actions={actions}
      addText={addText}
      onStop={stopOwn}
    />
  );
}

/** The draft's answer and those of the other models, in columns that scroll together. */
export function CompareColumns() {
  const isLinked = usePlaygroundView((view) => view.isScrollLinked);
  const { container, addText } = useLinkedScroll(isLinked);
  const { columns } = useComparison();
  return (
    <div ref={container} className="compared" role="group" aria-label="Compared answers">
      <OwnAnswer addText={addText} />
      {columns.map((column, index) => (
        <ComparedAnswer key={column.id} column={column} number={index + 2} addText={addText} />
      ))}
    </div>
  );
}
