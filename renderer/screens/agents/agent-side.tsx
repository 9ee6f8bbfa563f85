import { Link } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { classNames } from '../../components/class-names.ts';
import { formatPlural, formatTime } from '../../components/format.ts';
import { QueryView } from '../../components/query-view.tsx';
import { useAgentConversations } from '../../queries/agents.ts';
import { useDataspaces } from '../../queries/knowledge.ts';
import { useModels } from '../../queries/models.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { Badge } from '../../components/marks.tsx';
import { modelPlace, shutdownBadge } from '../../components/models/model-list.ts';
import { editAgentAddress } from './agents-address.ts';
import { useToday } from '../../components/use-today.ts';

export interface AgentSideProps {
  agent: Agent;
  conversationId: string | null;
}

/** Model, prompt, dataspaces and parameters. */
function AgentDetails({ agent, conversationId }: AgentSideProps) {
  const dataspaces = useDataspaces().data ?? [];
  const names = agent.dataspaceIds?.map((id) => dataspaces.find((one) => one.id === id)?.name ?? 'Deleted dataspace');
  const model = useModels().data?.data.find(
    ({ aiSystem, name }) => aiSystem === agent.aiSystem && name === agent.model,
  );
  const today = useToday();
  const shutdown = model && shutdownBadge(model, today);
  return (
    <div className="agents__facts">
      <p className="row">
        <span className="medium truncate">{agent.model}</span>
        {shutdown && <Badge tone={shutdown.tone}>{shutdown.text}</Badge>}
      </p>
      <p className="caption tertiary truncate">{model ? modelPlace(model) : providerName(agent.aiSystem)}</p>
      {agent.prompt === '' ? (
        <p className="small tertiary">
          No prompt.{' '}
          <Link href={editAgentAddress(agent.id, conversationId)} className="link">
            Add one
          </Link>
        </p>
      ) : (
        <p className="agents__prompt-text mono--small secondary">{agent.prompt}</p>
      )}
      {names && <p className="small secondary">Dataspaces: {names.join(', ')}</p>}
      {agent.configuration && (
        <p className="mono--small secondary agents__parameters">
          {Object.entries(agent.configuration)
            .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
            .join(', ')}
        </p>
      )}
    </div>
  );
}

function Conversations({ agent, conversationId }: AgentSideProps) {
  const conversations = useAgentConversations(agent.id);
  return (
    <QueryView query={conversations} subject="the conversations">
      {(rows) =>
        rows.length === 0 ? (
          <p className="agents__note small tertiary">No conversations yet</p>
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

/** What an agent is made of, and its conversations. */
export function AgentSide({ agent, conversationId }: AgentSideProps) {
  return (
    <aside className="panel panel--inset agents__side scroll" aria-label="Agent and conversations">
      <div className="header">
        <h2>Agent</h2>
      </div>
      <AgentDetails agent={agent} conversationId={conversationId} />
      <div className="header line-top">
        <h2>Conversations</h2>
      </div>
      <Conversations agent={agent} conversationId={conversationId} />
    </aside>
  );
}
