import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { StateMark } from '../../../components/marks.tsx';
import { QueryView } from '../../../components/query-view.tsx';
import { useReturnFocus } from '../../../components/use-return-focus.ts';
import { useAddEndpoint, useEndpoints } from '../../../queries/endpoints.ts';
import { SettingsSection } from '../settings-page.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointRow } from './endpoint-row.tsx';

interface FoundEndpoint {
  name: string;
  baseAddress: string;
  models: number;
}

function FoundRow({ found }: { found: FoundEndpoint }) {
  const add = useAddEndpoint();
  return (
    <div className="provider" role="group" aria-label={`${found.name}, found`}>
      <div className="provider__row">
        <span className="strong truncate">{found.name}</span>
        <span className="provider__state">
          <StateMark tone="accent">Detected</StateMark>
        </span>
        <span className="provider__detail truncate">
          <span className="mono--small">{found.baseAddress}</span>
          <span className="tertiary">, {formatPlural(found.models, 'model')}, on this machine</span>
        </span>
        <span className="provider__actions">
          <Button
            size="small"
            isBusy={add.isPending}
            onClick={() => add.mutate({ name: found.name, baseAddress: found.baseAddress })}
          >
            Add
          </Button>
        </span>
      </div>
    </div>
  );
}

/** The endpoints that were added, those found on this machine, and the form for another one. */
export function EndpointsSection({ title = 'Compatible endpoints' }: { title?: string }) {
  const endpoints = useEndpoints();
  const [isAdding, setAdding] = useState(false);
  const returnTarget = useReturnFocus<HTMLButtonElement>(isAdding);
  const addButton = (
    <Button ref={returnTarget} size="small" icon={Plus} aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
      Add endpoint
    </Button>
  );
  return (
    <SettingsSection title={title} actions={addButton}>
      <div className="card">
        {isAdding && (
          <div className="provider-form-frame">
            <EndpointForm endpoint={null} onDone={() => setAdding(false)} />
          </div>
        )}
        <QueryView query={endpoints} subject="the endpoints" rows={2}>
          {({ data, found }) => (
            <>
              {data.map((endpoint) => (
                <EndpointRow key={endpoint.name} endpoint={endpoint} />
              ))}
              {found.map((entry) => (
                <FoundRow key={entry.baseAddress} found={entry} />
              ))}
              {data.length === 0 && found.length === 0 && !isAdding && (
                <p className="setting-panel small secondary">
                  No endpoints. Add Ollama, LM Studio, vLLM, llama.cpp, a company gateway or any OpenAI-compatible
                  server. Local servers are detected automatically.
                </p>
              )}
            </>
          )}
        </QueryView>
      </div>
    </SettingsSection>
  );
}
