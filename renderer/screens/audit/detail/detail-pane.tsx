import { Package, Repeat2, SquareTerminal } from 'lucide-react';
import { useDeferredValue, useEffect, type RefObject } from 'react';
import { useLocation } from 'wouter';
import { AppError } from '../../../../shared/app-error.ts';
import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import type { ConversationDetail as Conversation, ConversationRun } from '../../../../shared/contract/conversations.ts';
import { Button } from '../../../components/button.tsx';
import { EmptyState, ErrorFailure, LoadingRows } from '../../../components/state-panels.tsx';
import { useConversation, useReadAhead } from '../../../queries/audit.ts';
import { runAddress } from '../../../shell/addresses.ts';
import { useActions } from '../../../stores/actions.ts';
import { useAuditSelection } from '../../../stores/audit.ts';
import type { AddressedAudit } from '../filter/use-audit-address.ts';
import type { AuditListState } from '../list/use-audit-list.ts';
import { ConversationDetail } from './conversation-detail.tsx';

export interface DetailPaneProps {
  list: AuditListState;
  address: AddressedAudit;
  facets: AuditFacets | undefined;
  listRef: RefObject<HTMLDivElement | null>;
  detailRef: RefObject<HTMLElement | null>;
  /** Opens the replay dialog for this run. */
  onReplay: (run: ConversationRun, name: string) => void;
}

/** Prefetches the neighbours, so that moving through a list doesn't wait. */
function useConversationsAhead({ neighbours }: AuditListState): void {
  const read = useReadAhead();
  const ids = neighbours.flatMap((row) => row?.conversationId ?? []).join();
  useEffect(() => {
    for (const id of ids.split(',')) if (id !== '') read(id);
  }, [ids, read]);
}

/** The run to show: the one in the address, the one that matched the filter, or the newest. */
function openRun(
  { runs }: Conversation,
  candidates: readonly (string | null | undefined)[],
): ConversationRun | undefined {
  for (const id of candidates) {
    const match = runs.find(({ conversationRunId }) => conversationRunId === id);
    if (match) return match;
  }
  return runs.at(-1);
}

function stepRun({ runs }: Conversation, run: ConversationRun, by: number): string | null {
  return runs[runs.indexOf(run) + by]?.conversationRunId ?? null;
}

function useRunActions(
  conversation: Conversation | undefined,
  run: ConversationRun | undefined,
  props: DetailPaneProps,
) {
  const { address, list, onReplay } = props;
  const [, navigate] = useLocation();
  const isPicked = useAuditSelection(({ rows }) => conversation !== undefined && rows.has(conversation.id));
  const playground = () => run && navigate(runAddress(run.conversationRunId));
  const replay = () => run && conversation && onReplay(run, conversation.name);
  const pick = list.toggleActive;
  const step = (by: number) => {
    const next = conversation && run && stepRun(conversation, run, by);
    if (next && conversation) address.open(conversation.id, next);
  };
  const group = 'Conversation';
  const isEnabled = run !== undefined;
  useActions('audit-run', [
    { id: 'audit.playground', title: 'Open in playground', group, keys: 'O', isEnabled, run: playground },
    { id: 'audit.replay', title: 'Replay on another model', group, keys: 'R', isEnabled, run: replay },
    { id: 'audit.evidence', title: 'Add to or remove from evidence', group, keys: 'E', isEnabled, run: pick },
    { id: 'audit.run.next', title: 'Next run', group, keys: ']', isEnabled, run: () => step(1) },
    {
      id: 'audit.run.back',
      title: 'Previous run',
      group,
      keys: '[',
      isEnabled,
      run: () => step(-1),
    },
  ]);
  return (
    <div className="toolbar audit__actions">
      <Button icon={SquareTerminal} keys="O" onClick={playground}>
        Open in playground
      </Button>
      <Button icon={Repeat2} keys="R" onClick={replay}>
        Replay
      </Button>
      <span className="grow" />
      <Button icon={Package} keys="E" aria-pressed={isPicked} onClick={pick}>
        {isPicked ? 'In evidence' : 'Add to evidence'}
      </Button>
    </div>
  );
}

/** The conversation of the active row, with actions on the open run. */
export function DetailPane(props: DetailPaneProps) {
  const { list, address, facets, listRef, detailRef } = props;
  const { active, activeRow, total } = list;
  const conversationId = address.conversationId ?? activeRow?.conversationId ?? null;
  // The list responds to each key at once; the conversation follows when the keys pause.
  const shownId = useDeferredValue(conversationId);
  const query = useConversation(shownId);
  useConversationsAhead(list);
  const conversation = query.data;
  const row = activeRow?.conversationId === conversation?.id ? activeRow : undefined;
  const run = conversation && openRun(conversation, [address.runId, row?.run.runId]);
  const actions = useRunActions(conversation, run, props);
  if (query.error && (!conversation || query.isPlaceholderData)) {
    return (
      <section ref={detailRef} className="panel line-left audit__detail" aria-label="Conversation">
        <div className="audit__failure">
          {query.error instanceof AppError && query.error.code === 'not_found' ? (
            <EmptyState title="Conversation not found" reason="It was deleted, or the link is incomplete." />
          ) : (
            <ErrorFailure title="Couldn't load the conversation" error={query.error}>
              <Button onClick={() => void query.refetch()}>Retry</Button>
            </ErrorFailure>
          )}
        </div>
      </section>
    );
  }
  if (!conversation || !run) {
    return (
      <section ref={detailRef} className="panel line-left audit__detail" aria-label="Conversation">
        {conversationId !== null && <LoadingRows label="Loading the conversation" rows={6} />}
      </section>
    );
  }
  const go = (by: number) => list.moveTo((active ?? 0) + by);
  return (
    <ConversationDetail
      detailRef={detailRef}
      conversation={conversation}
      facets={facets}
      run={run}
      matchedIds={row?.matchedRunIds ?? []}
      position={active === null || !row ? null : { index: active, total }}
      isBehind={conversation.id !== conversationId}
      search={address.filter.text ?? ''}
      onOpenRun={(runId) => address.open(conversation.id, runId)}
      onPrevious={() => go(-1)}
      onNext={() => go(1)}
      onLeave={() => listRef.current?.focus()}
      actions={actions}
    />
  );
}
