import { Ellipsis, MessageSquarePlus, PanelRight, Pencil, Trash2 } from 'lucide-react';
import { useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { IconButton } from '../../components/icon-button.tsx';
import { Menu } from '../../components/menu.tsx';
import { Popover } from '../../components/popover.tsx';
import { useRemoveAgent } from '../../queries/agents.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { CopyLink } from '../../shell/copy-link.tsx';
import { useMediaQuery } from '../../shell/use-media-query.ts';
import { useActions } from '../../stores/actions.ts';
import { agentSlot } from '../../stores/agents.ts';
import { deleteWithUndo } from '../../stores/deletions.ts';
import { dismissRun } from '../../stores/live-runs.ts';
import { AgentForm } from './agent-form.tsx';
import { AgentSide } from './agent-side.tsx';
import { editAgentAddress, type AgentsAddress } from './agents-address.ts';
import { ConversationView } from './conversation-view.tsx';

/** A window with room for the form or the side beside a conversation; the same width as the style sheets' `wide-only`. */
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

export interface AgentPanelProps {
  agent: Agent;
  address: Extract<AgentsAddress, { agentId: string }>;
}

/** One agent: a conversation to try it in, and beside it what it is made of or the form that changes it. */
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
        {form && !isWide ? form : <ConversationView agent={agent} conversationId={conversationId} />}
        {isWide && (
          <div className={classNames('agents__aside', isEditing && 'is-editing')}>
            {form || <AgentSide agent={agent} conversationId={conversationId} />}
          </div>
        )}
      </div>
    </section>
  );
}
