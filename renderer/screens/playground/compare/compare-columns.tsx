import { Play, Square, X } from 'lucide-react';
import { type RefObject, useEffect, useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { IconButton } from '../../../components/icon-button.tsx';
import { modelPlace } from '../../../components/models/model-list.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import type { ComparedColumn } from '../../../stores/playground-drafts.ts';
import { columnSlot } from '../../../stores/completion-runs.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { AnswerBody, type RemedyActions } from '../answer/answer-body.tsx';
import { MetricsBar, RunStateMark } from '../answer/run-status.tsx';
import { isRatable, RateAnswer } from '../answer/rate-answer.tsx';
import type { ShownRun } from '../answer/shown-run.ts';
import type { PlaygroundState } from '../playground-screen.tsx';
import { useChosenModel, useShownRun } from '../session/use-session.ts';
import './compare.css';

const columnText = '.play__stream';

/**
 * Scrolls all columns to the same share of their length as the one that the reader scrolls. What scrolls without the reader, such as
 * a column that follows its growing text, moves no other.
 */
export function useLinkedScroll(isLinked: boolean): RefObject<HTMLDivElement | null> {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = container.current;
    if (!element || !isLinked) return;
    let reader: Element | null = null;
    const onInput = ({ target }: Event): void => {
      reader = target instanceof Element ? target.closest(columnText) : null;
    };
    const onScroll = ({ target }: Event): void => {
      if (!(target instanceof Element) || target !== reader) return;
      const room = target.scrollHeight - target.clientHeight;
      if (room <= 0) return;
      const share = target.scrollTop / room;
      for (const other of element.querySelectorAll(columnText)) {
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
  return container;
}

interface ColumnProps {
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

function Column({ number, title, model, run, actions, onStop, onRemove }: ColumnProps) {
  const isActive = run?.state === 'connecting' || run?.state === 'streaming';
  const name = `Answer ${number}, ${title}`;
  const column = useRef<HTMLElement>(null);
  return (
    <section ref={column} className="panel compared__column" aria-label={name}>
      <div className="compared__head">
        <div className="row">
          <Button
            variant="quiet"
            size="small"
            className="compared__model"
            aria-label={`${name}: choose another model`}
            onClick={actions.pickModel}
          >
            <span className="truncate">{title}</span>
          </Button>
          <span className="grow" />
          {isActive && <IconButton icon={Square} label={`Stop answer ${number}`} size="small" onClick={onStop} />}
          {!isActive && (
            <IconButton icon={Play} label={`Run answer ${number}`} size="small" onClick={actions.runAgain} />
          )}
          <CopyButton
            text={run?.text ?? ''}
            label={`Copy answer ${number}`}
            isIconOnly
            size="small"
            disabled={!run || run.text === ''}
          />
          {onRemove && <IconButton icon={X} label={`Remove answer ${number}`} size="small" onClick={onRemove} />}
        </div>
        <div className="row compared__state">
          {model && <span className="caption tertiary truncate">{modelPlace(model)}</span>}
          <span className="grow" />
          <div className="compared__mark" role="status">
            {run && <RunStateMark run={run} />}
          </div>
        </div>
      </div>
      {run ? (
        <>
          <AnswerBody run={run} title={name} actions={actions} />
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

/** One column beside the draft's own: its run is followed here, so that its tokens draw nothing else. */
function ComparedAnswer({ state, column, number }: { state: PlaygroundState; column: ComparedColumn; number: number }) {
  const { draft, comparison } = state;
  const model = useChosenModel(column);
  const run = useShownRun(columnSlot(draft.id, column.id), column.runId, model);
  return (
    <Column
      number={number}
      title={column.isGrounded ? column.model : 'Without grounding'}
      model={model}
      run={run}
      actions={{
        runAgain: () => comparison.runColumn(column.id),
        pickModel: () => comparison.changeModel(column.id),
        installModel: () => {
          state.install();
          comparison.runColumn(column.id);
        },
      }}
      onStop={() => comparison.stopColumn(column.id)}
      onRemove={() => comparison.remove(column.id)}
    />
  );
}

function OwnAnswer({ state }: { state: PlaygroundState }) {
  const { comparison, draft } = state;
  const isByGrounding = comparison.columns.some(({ isGrounded }) => !isGrounded);
  return (
    <Column
      number={1}
      title={isByGrounding ? 'With grounding' : draft.model}
      model={state.model}
      run={state.shown}
      actions={{
        runAgain: state.runOwn,
        pickModel: () => state.setPickerOpen(true),
        installModel: state.runOwn,
      }}
      onStop={state.stopOwn}
    />
  );
}

/** The draft's answer and those of the other models, in columns that scroll together. */
export function CompareColumns({ state }: { state: PlaygroundState }) {
  const isLinked = usePlaygroundView((view) => view.isScrollLinked);
  const container = useLinkedScroll(isLinked);
  const { columns } = state.comparison;
  return (
    <div ref={container} className="compared" role="group" aria-label="Compared answers">
      <OwnAnswer state={state} />
      {columns.map((column, index) => (
        <ComparedAnswer key={column.id} state={state} column={column} number={index + 2} />
      ))}
    </div>
  );
}
