import { useQueryClient } from '@tanstack/react-query';
import { MessageCircleQuestionMark, SquareTerminal } from 'lucide-react';
import { useState, type RefObject } from 'react';
import { useLocation } from 'wouter';
import type { DataspaceSummary } from '../../../shared/contract/knowledge-window.ts';
import { useHost } from '../../host/host-context.tsx';
import { runsKey } from '../../queries/runs.ts';
import { draftAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { answerSlot, askDataspace, createGroundedDraft, questionOf } from '../../stores/knowledge.ts';
import { isActive } from '../../stores/run-stream.ts';
import { dismissRun, stopRun, useLiveRuns } from '../../stores/live-runs.ts';

/**
 * What is typed, searched and asked in a dataspace. The newest answer stays until another query or "Sources" replaces it,
 * also while another screen is open.
 */
export function useDataspaceQuery(
  { id, name }: Pick<DataspaceSummary, 'id' | 'name'>,
  field: RefObject<HTMLInputElement | null>,
) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [, navigate] = useLocation();
  const run = useLiveRuns(({ runs }) => runs[answerSlot(id)]) ?? null;
  const [text, setText] = useState(() => (run ? questionOf(run.request) : ''));
  const [searched, setSearched] = useState('');
  const [isPickingModel, setPickingModel] = useState(false);

  const dismissAnswer = (): void => dismissRun(answerSlot(id));
  const stop = (): void => stopRun(answerSlot(id));
  const clear = (): void => {
    setText('');
    setSearched('');
    dismissAnswer();
  };
  const search = (): void => {
    dismissAnswer();
    setSearched(text.trim());
  };
  const ask = (question: string): void => {
    if (question === '') return field.current?.focus();
    setSearched('');
    const refetchRuns = () => void queryClient.invalidateQueries({ queryKey: runsKey });
    void askDataspace(client, { dataspaceId: id, question, onRunId: refetchRuns }).then(refetchRuns);
  };
  const end = (): void => {
    clear();
    field.current?.focus();
  };
  const openPlayground = (): void => navigate(draftAddress(createGroundedDraft({ id, name }, text.trim())));

  const group = 'Knowledge';
  useActions('knowledge.query', [
    {
      id: 'knowledge.ask',
      title: 'Ask dataspace',
      group,
      icon: MessageCircleQuestionMark,
      keys: 'Mod+Enter',
      run: () => ask(text.trim()),
    },
    {
      id: 'knowledge.playground',
      title: 'Use dataspace in playground',
      group,
      icon: SquareTerminal,
      run: openPlayground,
    },
  ]);

  return {
    shown: run ? 'answer' : searched === '' ? 'sources' : 'results',
    run,
    searched,
    end,
    bar: {
      text,
      onText: (next: string) => {
        setText(next);
        // An answer stays while the next question is typed.
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
