import { useQueryClient } from '@tanstack/react-query';
import { ChevronDown, MessageCircleQuestionMark, Search, SquareTerminal } from 'lucide-react';
import { type RefObject, useState } from 'react';
import { useLocation } from 'wouter';
import type { DataspaceSummary } from '../../../shared/contract/knowledge-window.ts';
import { useHost } from '../../host/host-context.tsx';
import { runsKey } from '../../queries/runs.ts';
import { draftAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { answerSlot, askDataspace, createGroundedDraft, questionOf, useAnswerModel } from '../../stores/knowledge.ts';
import { isActive } from '../../stores/run-stream.ts';
import { dismissRun, stopRun, useLiveRuns } from '../../stores/live-runs.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { modelKey, shortName } from '../../components/models/model-list.ts';
import { ModelPicker } from '../../components/models/model-picker.tsx';
import { TextField } from '../../components/text-field.tsx';

function useQueryActions(ask: () => void, openPlayground: () => void): void {
  const group = 'Knowledge';
  useActions('knowledge.query', [
    {
      id: 'knowledge.ask',
      title: 'Ask dataspace',
      group,
      icon: MessageCircleQuestionMark,
      keys: 'Mod+Enter',
      run: ask,
    },
    {
      id: 'knowledge.playground',
      title: 'Use dataspace in playground',
      group,
      icon: SquareTerminal,
      run: openPlayground,
    },
  ]);
}

/** The newest answer from a dataspace. Asking refetches the runs once the run has an id, and again when it ends. */
function useAnswer(dataspaceId: string) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const slot = answerSlot(dataspaceId);
  const run = useLiveRuns(({ runs }) => runs[slot]) ?? null;
  const refetchRuns = () => void queryClient.invalidateQueries({ queryKey: runsKey });
  return {
    run,
    ask: (question: string) =>
      void askDataspace(client, { dataspaceId, question, onRunId: refetchRuns }).then(refetchRuns),
    stop: () => stopRun(slot),
    dismiss: () => dismissRun(slot),
  };
}

/**
 * The text of the field, and its search or answer. The newest answer stays until another query or "Sources" replaces it, also while
 * another screen is open.
 */
export function useDataspaceQuery(
  { id, name }: Pick<DataspaceSummary, 'id' | 'name'>,
  field: RefObject<HTMLInputElement | null>,
) {
  const [, navigate] = useLocation();
  const answer = useAnswer(id);
  const { run, stop } = answer;
  const [text, setText] = useState(() => (run ? questionOf(run.request) : ''));
  const [searched, setSearched] = useState('');
  const [isPickingModel, setPickingModel] = useState(false);

  const clear = (): void => {
    setText('');
    setSearched('');
    answer.dismiss();
  };
  const search = (): void => {
    answer.dismiss();
    setSearched(text.trim());
  };
  const ask = (question: string): void => {
    if (question === '') return field.current?.focus();
    setSearched('');
    answer.ask(question);
  };
  const end = (): void => {
    clear();
    field.current?.focus();
  };
  const openPlayground = (): void => navigate(draftAddress(createGroundedDraft({ id, name }, text.trim())));

  useQueryActions(() => ask(text.trim()), openPlayground);

  return {
    shown: run ? 'answer' : searched === '' ? 'sources' : 'results',
    run,
    searched,
    end,
    bar: {
      text,
      onText: (next: string) => {
        setText(next);
        // The previous answer stays while the next question is typed.
        if (next === '') setSearched('');
      },
      onSearch: search,
      onAsk: () => ask(text.trim()),
      onEscape: () => (isActive(run) ? stop() : clear()),
      onUseInPlayground: openPlayground,
      isPickingModel,
      onPickingModel: setPickingModel,
    },
    answer: {
      onAskAgain: () => run && ask(questionOf(run.request)),
      onPickModel: () => setPickingModel(true),
      onStop: stop,
      onEnd: end,
    },
  } as const;
}

interface SearchBarProps {
  field: RefObject<HTMLInputElement | null>;
  dataspaceName: string;
  text: string;
  onText: (text: string) => void;
  onSearch: () => void;
  onAsk: () => void;
  /** Escape in the field. */
  onEscape: () => void;
  onUseInPlayground: () => void;
  isPickingModel: boolean;
  onPickingModel: (isPicking: boolean) => void;
}

function ModelChoice({ isPickingModel, onPickingModel }: Pick<SearchBarProps, 'isPickingModel' | 'onPickingModel'>) {
  const model = useAnswerModel();
  const choose = ({ aiSystem, name }: Parameters<typeof modelKey>[0]): void => {
    useAnswerModel.setState({ aiSystem, name });
    onPickingModel(false);
  };
  return (
    <>
      <Button
        variant="quiet"
        className="knowledge__model"
        aria-haspopup="dialog"
        aria-label={`Model for answers: ${model.name}`}
        title={`Model for answers: ${model.name}`}
        onClick={() => onPickingModel(true)}
      >
        <span className="truncate">{shortName(model)}</span>
        <Icon icon={ChevronDown} size="small" />
      </Button>
      <ModelPicker
        isOpen={isPickingModel}
        chosenKey={modelKey(model)}
        onChoose={choose}
        onChooseAndRun={choose}
        onClose={() => onPickingModel(false)}
      />
    </>
  );
}

/** One field for both: Search finds passages, Ask has a model answer from them. */
export function SearchBar(props: SearchBarProps) {
  const { field, dataspaceName, text, onText, onSearch, onAsk, onEscape, onUseInPlayground } = props;
  const isEmpty = text.trim() === '';
  return (
    <form
      className="toolbar knowledge__search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      <TextField
        ref={field}
        label={`Search ${dataspaceName}`}
        isLabelHidden
        icon={Search}
        placeholder={`Search "${dataspaceName}"`}
        maxLength={10_000}
        value={text}
        onValueChange={onText}
        onKeyDown={(event) => event.key === 'Escape' && onEscape()}
      />
      <div className="row knowledge__acts">
        <Button type="submit" aria-disabled={isEmpty}>
          Search
        </Button>
        <Button
          variant="primary"
          icon={MessageCircleQuestionMark}
          keys="Mod+Enter"
          aria-disabled={isEmpty}
          onClick={onAsk}
        >
          Ask
        </Button>
        <ModelChoice {...props} />
        <IconButton icon={SquareTerminal} label="Use in playground" onClick={onUseInPlayground} />
      </div>
    </form>
  );
}
