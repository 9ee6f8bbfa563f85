import { Link, useLocation } from 'wouter';
import { Ellipsis, MessageSquarePlus, PanelRight, Pencil, Trash2 } from 'lucide-react';
import type { Agent } from '../../../shared/contract/agents.ts';
import { toolFunctionOf } from '../../../shared/contract/tools.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { classNames } from '../../components/class-names.ts';
import { formatPlural, formatTime } from '../../components/format.ts';
import { QueryView } from '../../components/state-panels.tsx';
import { useAgentConversations, useRemoveAgent } from '../../queries/agents.ts';
import { useDataspaces } from '../../queries/knowledge.ts';
import { useModels } from '../../queries/providers.ts';
import { agentAddress, type AgentsAddress, editAgentAddress } from '../../shell/addresses.ts';
import { Badge } from '../../components/badges.tsx';
import { modelLocation, shutdownBadge } from '../../components/models/model-list.ts';
import { useToday } from '../../components/use-today.ts';
import { settingText } from '../../components/diff/settings-diff.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { Popover } from '../../components/popover.tsx';
import { CopyLink } from '../../shell/links.tsx';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useActions } from '../../stores/actions.ts';
import { agentSlot } from '../../stores/agents.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { dismissRun } from '../../stores/live-runs.ts';
import { AgentForm } from './agent-form.tsx';
import { ConversationView } from './conversation-view.tsx';

interface AgentSideProps {
  agent: Agent;
  conversationId: string | null;
}

/** The names of tools: their schemas are long. */
function toolNames(tools: unknown): string {
  const list = Array.isArray(tools) ? (tools as { type?: unknown }[]) : [];
  return list.map((tool) => toolFunctionOf(tool)?.name ?? String(tool.type)).join(' ');
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
      <p className="caption tertiary truncate">{model ? modelLocation(model) : providerName(agent.aiSystem)}</p>
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
            .map(([name, value]) => `${name} ${name === 'tools' ? toolNames(value) : settingText(value)}`)
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

/** The settings of an agent, and its conversations. */
function AgentSide({ agent, conversationId }: AgentSideProps) {
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

/** Whether the window has room for the form or the side beside a conversation; the same width as `wide-only` in the style sheets. */
const wideWindow = '(min-width: 1100px)';

function useAgentCommands(agent: Agent, conversationId: string | null) {
  const [, navigate] = useLocation();
  const removeAgent = useRemoveAgent();
  const start = (): void => {
    dismissRun(agentSlot(agent.id));
    navigate(agentAddress(agent.id));
  };
  const edit = (): void => navigate(editAgentAddress(agent.id, conversationId));
  const remove = (): void => {
    deleteWithUndo({
      id: agent.id,
      text: `Deleted "${agent.name}". Its conversations are still in the audit.`,
      carryOut: () => removeAgent(agent.id),
      onUndo: () => navigate(agentAddress(agent.id)),
    });
    navigate('/agents');
  };
  const group = 'Agents';
  useActions('agent', [
    {
      id: 'agents.begin',
      title: `New conversation with ${agent.name}`,
      group,
      icon: MessageSquarePlus,
      keys: 'Mod+Shift+N',
      run: start,
    },
    {
      id: 'agents.edit',
      title: `Edit ${agent.name}`,
      group,
      icon: Pencil,
      keys: 'F2',
      worksWhileTyping: true,
      run: edit,
    },
    { id: 'agents.delete', title: `Delete ${agent.name}`, group, icon: Trash2, keys: 'Delete', run: remove },
  ]);
  return { start, edit, remove };
}

interface AgentPanelProps {
  agent: Agent;
  address: Extract<AgentsAddress, { agentId: string }>;
}

/** One agent: a conversation to try it in, next to its settings or the form that changes them. */
export function AgentPanel({ agent, address }: AgentPanelProps) {
  const [, navigate] = useLocation();
  const { conversationId, isEditing } = address;
  const { start, edit, remove } = useAgentCommands(agent, conversationId);
  const isWide = useMediaQuery(wideWindow);
  const leave = (): void => navigate(agentAddress(agent.id, conversationId ?? undefined));
  const form = isEditing && <AgentForm key={agent.id} agent={agent} onDone={leave} onCancel={leave} />;
  return (
    <section className="panel agents__panel" aria-label={agent.name}>
      <div className="toolbar" role="toolbar" aria-label="Agent">
        <h2 className="object-title truncate" title={agent.name}>
          {agent.name}
        </h2>
        <span className="grow" />
        <Button icon={MessageSquarePlus} onClick={start}>
          New conversation
        </Button>
        <CopyLink address={agentAddress(agent.id, conversationId ?? undefined)} />
        <Popover
          label="Agent and conversations"
          align="end"
          className="agents__popover narrow-only"
          trigger={
            <IconButton className="narrow-only" variant="default" icon={PanelRight} label="Agent and conversations" />
          }
        >
          <AgentSide agent={agent} conversationId={conversationId} />
        </Popover>
        <Menu
          align="end"
          groups={[
            [{ label: 'Edit', icon: Pencil, keys: 'F2', onSelect: edit }],
            [{ label: 'Delete', icon: Trash2, isNegative: true, onSelect: remove }],
          ]}
        >
          <IconButton icon={Ellipsis} label={`More for ${agent.name}`} />
        </Menu>
      </div>
      <div className="agents__work">
        {(isWide || !form) && <ConversationView key="conversation" agent={agent} conversationId={conversationId} />}
        {/* With a key, so that the form keeps what is typed when the width of the window changes. */}
        {(isWide || form) && (
          <div
            key="aside"
            className={isWide ? classNames('agents__aside', isEditing && 'is-editing') : 'agents__alone'}
          >
            {form || <AgentSide agent={agent} conversationId={conversationId} />}
          </div>
        )}
      </div>
    </section>
  );
}
