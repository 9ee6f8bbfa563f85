import { Plus, Search } from 'lucide-react';
import { useRef, useState, type RefObject } from 'react';
import { useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { EmptyState, QueryView } from '../../components/state-panels.tsx';
import { TextField } from '../../components/text-field.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { useAgents } from '../../queries/agents.ts';
import { agentAddress, newAgentAddress, readAgentsAddress } from '../../shell/addresses.ts';
import { useActions } from '../../stores/actions.ts';
import { useShowPageTitle } from '../../stores/window.ts';
import { useDeletions } from '../../stores/deletions.ts';
import { AgentForm } from './agent-form.tsx';
import { AgentPanel } from './agent-panel.tsx';
import './agents.css';

const rowHeight = 48;

function Row({ agent }: { agent: Agent }) {
  return (
    <div className="list-row">
      <span className="medium truncate">{agent.name}</span>
      <span className="caption tertiary truncate">{agent.model}</span>
    </div>
  );
}

interface AgentListProps {
  agents: readonly Agent[];
  selectedId: string | null;
  search: RefObject<HTMLInputElement | null>;
}

function AgentList({ agents, selectedId, search }: AgentListProps) {
  const [, navigate] = useLocation();
  const [words, setWords] = useState('');
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = agents.filter(({ name, model, prompt }) => {
    const text = `${name}\n${model}\n${prompt}`.toLowerCase();
    return terms.every((word) => text.includes(word));
  });
  return (
    <section className="panel agents__list" aria-label="Agents">
      <div className="list-find">
        <TextField
          ref={search}
          label="Search agents"
          isLabelHidden
          size="small"
          icon={Search}
          placeholder="Search agents"
          value={words}
          onValueChange={setWords}
          onKeyDown={(event) => event.key === 'Escape' && setWords('')}
        />
        <IconButton icon={Plus} label="Create agent" size="small" onClick={() => navigate(newAgentAddress)} />
      </div>
      {shown.length === 0 && agents.length > 0 ? (
        <p className="agents__note small tertiary">No matching agents</p>
      ) : (
        <VirtualList
          label="Agents, newest first"
          className="list-rows"
          items={shown}
          itemKey={({ id }) => id}
          rowHeight={rowHeight}
          selectedKey={selectedId}
          onSelect={({ id }) => id !== selectedId && navigate(agentAddress(id))}
          renderItem={(agent) => <Row agent={agent} />}
        />
      )}
    </section>
  );
}

function Agents({ agents }: { agents: readonly Agent[] }) {
  const [location, navigate] = useLocation();
  const search = useRef<HTMLInputElement>(null);
  const address = readAgentsAddress(location);
  const open = 'agentId' in address ? agents.find(({ id }) => id === address.agentId) : undefined;
  useShowPageTitle(open?.name ?? null);
  useActions('agents', [
    {
      id: 'agents.new',
      title: 'Create agent',
      keywords: ['new'],
      group: 'Agents',
      icon: Plus,
      keys: 'Mod+Alt+N',
      run: () => navigate(newAgentAddress),
    },
    {
      id: 'agents.find',
      title: 'Search agents',
      group: 'Agents',
      icon: Search,
      keys: '/',
      run: () => search.current?.select(),
    },
  ]);
  return (
    <div className="agents">
      <AgentList agents={agents} selectedId={open?.id ?? null} search={search} />
      {address.view === 'new' && (
        <AgentForm agent={null} onDone={({ id }) => navigate(agentAddress(id))} onCancel={() => navigate('/agents')} />
      )}
      {open && 'agentId' in address && <AgentPanel key={open.id} agent={open} address={address} />}
      {!open && address.view !== 'new' && (
        <div className="list-state">
          <EmptyState
            title={
              address.view !== 'none' ? 'Agent not found' : agents.length === 0 ? 'No agents yet' : 'Select an agent'
            }
            reason={
              address.view !== 'none'
                ? 'It may have been deleted. Its conversations are still in the audit.'
                : agents.length === 0
                  ? 'An agent is a model with a system message that remembers each conversation. Talk to it here or over HTTP.'
                  : 'Each turn is a run in the audit.'
            }
          >
            <Button
              variant={agents.length === 0 ? 'primary' : 'default'}
              icon={Plus}
              onClick={() => navigate(newAgentAddress)}
            >
              Create agent
            </Button>
          </EmptyState>
        </div>
      )}
    </div>
  );
}

/** Agents, with a conversation to try each one in. */
export function AgentsScreen() {
  const agents = useAgents();
  const deleted = useDeletions(({ ids }) => ids);
  return (
    <QueryView query={agents} subject="the agents" rows={6}>
      {(all) => <Agents agents={all.filter(({ id }) => !deleted.has(id))} />}
    </QueryView>
  );
}
