import { BookOpenText, ChevronDown, Search } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from './button.tsx';
import { Checkbox } from './choices.tsx';
import { formatPlural } from './format.ts';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';
import { QueryView } from './state-panels.tsx';
import { TextField } from './text-field.tsx';
import { useDataspaces } from '../queries/knowledge.ts';
import './dataspace-choice.css';

interface DataspaceChoiceProps {
  dataspaceIds: readonly string[];
  onChange: (dataspaceIds: string[]) => void;
}

/** Longer lists have a search field. */
const fewDataspaces = 8;

function matchesName(words: string): (dataspace: { name: string }) => boolean {
  const query = words.trim().toLowerCase();
  return ({ name }) => name.toLowerCase().includes(query);
}

function Choices({ dataspaceIds, onChange }: DataspaceChoiceProps) {
  const dataspaces = useDataspaces();
  const [words, setWords] = useState('');
  const [, navigate] = useLocation();
  return (
    <QueryView query={dataspaces} subject="the dataspaces">
      {(all) => (
        <div className="dataspaces__choices">
          {all.length === 0 && (
            <p className="small secondary">No dataspaces yet. Create one and add files to answer prompts from them.</p>
          )}
          {all.length > fewDataspaces && (
            <TextField
              label="Find a dataspace by name"
              isLabelHidden
              size="small"
              icon={Search}
              placeholder="Filter by name"
              value={words}
              onValueChange={setWords}
            />
          )}
          <div className="scroll dataspaces__list">
            {all.filter(matchesName(words)).map(({ id, name, passages }) => (
              <div key={id} className="row">
                <span className="grow">
                  <Checkbox
                    label={name}
                    isChecked={dataspaceIds.includes(id)}
                    onCheckedChange={(isChecked) =>
                      onChange(isChecked ? [...dataspaceIds, id] : dataspaceIds.filter((other) => other !== id))
                    }
                  />
                </span>
                <span className="caption tertiary nowrap">{formatPlural(passages, 'passage')}</span>
              </div>
            ))}
          </div>
          {/* A deleted dataspace would make every run fail. */}
          {dataspaceIds
            .filter((id) => all.every((dataspace) => dataspace.id !== id))
            .map((id) => (
              <Checkbox
                key={id}
                label="Deleted dataspace"
                isChecked
                onCheckedChange={() => onChange(dataspaceIds.filter((other) => other !== id))}
              />
            ))}
          <div className="row">
            <Button size="small" onClick={() => navigate('/knowledge')}>
              Open Knowledge
            </Button>
          </div>
        </div>
      )}
    </QueryView>
  );
}

/** Selects the dataspaces that ground a prompt. */
export function DataspaceChoice(props: DataspaceChoiceProps) {
  const { data } = useDataspaces();
  const names = (data ?? []).filter(({ id }) => props.dataspaceIds.includes(id)).map(({ name }) => name);
  const { length } = props.dataspaceIds;
  const label = length === 0 ? 'Choose dataspaces' : names.join(', ') || formatPlural(length, 'dataspace');
  return (
    <Popover
      label="Dataspaces"
      align="start"
      className="dataspaces__popover"
      trigger={
        <Button size="small" className="dataspaces__choose" icon={BookOpenText}>
          <span className="truncate">{label}</span>
          <Icon icon={ChevronDown} size="small" />
        </Button>
      }
    >
      <Choices {...props} />
    </Popover>
  );
}
