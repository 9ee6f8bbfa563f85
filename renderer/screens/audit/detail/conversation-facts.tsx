import type { AuditFacets } from '../../../../shared/contract/audit.ts';
import type { ConversationDetail } from '../../../../shared/contract/conversations.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { callerName, formatMoment } from '../filter/filter-fields.ts';

function shortId(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`;
}

export interface ConversationFactsProps {
  conversation: ConversationDetail;
  facets: AuditFacets | undefined;
}

/** Whose conversation it is, and where and when it was held. */
export function ConversationFacts({ conversation, facets }: ConversationFactsProps) {
  return (
    <div className="audit__facts">
      <dl className="inline-facts">
        <div>
          <dt>Caller</dt>
          <dd className="truncate" title={conversation.callerId}>
            {callerName(conversation.callerId, facets)}
          </dd>
        </div>
        <div>
          <dt>Workspace</dt>
          <dd className={conversation.workspaceId ? 'mono--small' : 'tertiary'}>
            {conversation.workspaceId ? shortId(conversation.workspaceId) : 'None'}
          </dd>
        </div>
        <div>
          <dt>Updated</dt>
          <dd>{formatMoment(conversation.updatedAt)}</dd>
        </div>
        <div className="wide-only">
          <dt>ID</dt>
          <dd className="row">
            <span className="mono--small">{shortId(conversation.id)}</span>
            <CopyButton text={conversation.id} label="Copy conversation ID" isIconOnly size="small" />
          </dd>
        </div>
      </dl>
    </div>
  );
}
