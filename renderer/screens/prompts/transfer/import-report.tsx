import type { PreviewedSource, TransferEntry } from '../../../../shared/contract/prompt-transfer.ts';
import { Checkbox } from '../../../components/choices.tsx';
import { Badge } from '../../../components/marks.tsx';

const formats = {
  dotprompt: 'dotprompt',
  promptfoo: 'promptfoo',
  langfuse: 'Langfuse',
  'openai-jsonl': 'OpenAI JSONL',
  csv: 'CSV',
  text: 'Plain text',
} as const;

const tones = { taken: 'neutral', translated: 'accent', refused: 'caution', warning: 'caution' } as const;
const marks = { taken: 'Used', translated: 'Converted', refused: 'Skipped', warning: 'Warning' } as const;

/** What needs attention, what was skipped first, each entry once. What a prompt takes unchanged needs none. */
function notableEntries(entries: readonly TransferEntry[]): TransferEntry[] {
  const notable = (['refused', 'warning', 'translated'] as const).flatMap((outcome) =>
    entries.filter((entry) => entry.outcome === outcome),
  );
  return [...new Map(notable.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function Entries({ shown }: { shown: readonly TransferEntry[] }) {
  if (shown.length === 0) return null;
  return (
    <ul className="import-report__entries small">
      {shown.map(({ outcome, field, message, line }, index) => (
        <li key={index} className="row">
          <Badge tone={tones[outcome]}>{marks[outcome]}</Badge>
          <span>
            <span className="mono">{field}</span>
            {line !== null && <span className="tertiary"> line {line}</span>}: {message}
          </span>
        </li>
      ))}
    </ul>
  );
}

export interface ImportReportProps {
  sources: readonly PreviewedSource[];
  chosen: ReadonlySet<number>;
  onChosenChange: (chosen: ReadonlySet<number>) => void;
}

/** What an import would bring, file by file; each prompt can be deselected. */
export function ImportReport({ sources, chosen, onChosenChange }: ImportReportProps) {
  const toggle = (index: number, isChosen: boolean): void => {
    const next = new Set(chosen);
    if (isChosen) next.add(index);
    else next.delete(index);
    onChosenChange(next);
  };
  return (
    <div className="import-report scroll" tabIndex={0} role="region" aria-label="Import preview">
      {sources.map((source, place) => (
        <section key={place} className="import-report__source">
          <h3 className="row">
            <span className="mono truncate">{source.name}</span>
            {source.format !== null && <Badge isOutlined>{formats[source.format]}</Badge>}
          </h3>
          <Entries shown={source.prompts.length === 0 ? source.entries : notableEntries(source.entries)} />
          {source.prompts.map(({ index, prompt, entries }) => (
            <div key={index} className="import-report__prompt">
              <Checkbox
                label={prompt.name}
                isChecked={chosen.has(index)}
                onCheckedChange={(isChosen) => toggle(index, isChosen)}
              />
              <p className="small secondary truncate">{prompt.promptText.slice(0, 200)}</p>
              <Entries shown={notableEntries(entries)} />
            </div>
          ))}
        </section>
      ))}
    </div>
  );
}
