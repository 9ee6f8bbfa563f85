import { Link } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { classNames } from '../../components/class-names.ts';
import { formatPlural, formatTime } from '../../components/format.ts';
import { QueryView } from '../../components/query-view.tsx';
import { useAgentConversations } from '../../queries/agents.ts';
import { useModels } from '../../queries/models.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { Badge } from '../../components/marks.tsx';
import { modelPlace, shutdownMark } from '../../components/models/model-list.ts';
import { editAgentAddress } from './agents-address.ts';

/** What the agent is made of. */
function Facts({ agent }: { agent: Agent }) {
  const model = useModels().data?.data.find(
    ({ aiSystem, name }) => aiSystem === agent.aiSystem && name === agent.model,
  );
  const shutdown = model && shutdownMark(model, new Date());
  return (
    <div className="agents__facts">
      <p className="row">
        <span className="medium truncate">{agent.model}</span>
        {shutdown && <Badge tone={shutdown.tone}>{shutdown.text}</Badge>}
      </p>
      <p className="caption tertiary truncate">{model ? modelPlace(model) : agent.aiSystem}</p>
      {agent.prompt === '' ? (
        <p className="small tertiary">
          No prompt.{' '}
          <Link href={editAgentAddress(agent.id)} className="link">
            Write one
          </Link>
        </p>
      ) : (
        <p className="agents__prompt-text mono--small secondary">{agent.prompt}</p>
      )}
    </div>
  );
}

function Conversations({ agent, conversationId }: { agent: Agent; conversationId: string | null }) {
  const conversations = useAgentConversations(agent.id);
  return (
    <QueryView query={conversations} subject="the conversations">
      {(rows) =>
        rows.length === 0 ? (
          <p className="agents__note small tertiary">None yet. What you say here is kept.</p>
        ) : (
          <ul>
            {rows.map((row) => (
              <li key={row.conversationId}>
                <Link
                  href={agentAddress(agent.id, row.conversationId)}
                  className={classNames('agents__past', row.conversationId === conversationId && 'is-selected')}
                  aria-current={row.conversationId === conversationId ? 'page' : undefined}
                >
                  <span className="truncate">{row.name}</span>
                  <span className="caption tertiary numbers">
                    {formatPlural(row.turns, 'turn')}, {formatTime(row.run.createdAt)}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </QueryView>
  );
}

/** Model and prompt of an agent, and the conversations that were held with it here. */
export function AgentSide({ agent, conversationId }: { agent: Agent; conversationId: string | null }) {
  return (
    <aside className="panel panel--inset agents__side scroll" aria-label="Agent and conversations">
      <div className="header">
        <h2>Agent</h2>
      </div>
      <Facts agent={agent} />
      <div className="header line-top">
        <h2>Conversations</h2>
      </div>
      <Conversations agent={agent} conversationId={conversationId} />
    </aside>
  );
}
