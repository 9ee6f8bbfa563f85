import { useDeferredValue, useId, useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { formatPlural } from '../format.ts';
import { type ConvertedTools, convertTools } from '../../../shared/tool-forms.ts';
import { describeMistake, parseJson } from '../../drafts/json-text.ts';
import { type DraftTool, newTool } from '../../drafts/tool-drafts.ts';

function draftToolsOf({ tools, providerTools }: ConvertedTools): DraftTool[] {
  return [
    ...tools.map(({ tool: { name, description, parameters, strict } }) =>
      newTool({
        name,
        description: description ?? '',
        parameters: JSON.stringify(parameters, null, 2),
        strict: strict ?? null,
      }),
    ),
    ...providerTools.map((tool): DraftTool => ({
      kind: 'provider',
      id: crypto.randomUUID(),
      json: JSON.stringify(tool, null, 2),
    })),
  ];
}

const maxShown = 20;

function Found({ converted: { tools, providerTools, skipped } }: { converted: ConvertedTools }) {
  return (
    <ul className="paste__found small" aria-label="Tools in the text">
      {tools.slice(0, maxShown).map(({ form, tool, earlierName }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- The text may have a tool twice.
        <li key={index}>
          <span className="mono--small">{tool.name}</span> <span className="tertiary">{form}</span>
          {earlierName !== null && <span className="caution"> renamed from {earlierName.slice(0, 80)}</span>}
        </li>
      ))}
      {tools.length > maxShown && <li className="tertiary">{formatPlural(tools.length - maxShown, 'more tool')}</li>}
      {providerTools.length > 0 && (
        <li className="tertiary">{formatPlural(providerTools.length, 'provider tool')}, sent unchanged</li>
      )}
      {skipped.slice(0, 5).map(({ position, issue }) => (
        <li key={position} className="caution">
          Skipped: {position === '' ? 'the text' : <span className="mono--small">{position}</span>} {issue}
        </li>
      ))}
    </ul>
  );
}

interface PasteDialogProps {
  onAdd: (tools: readonly DraftTool[]) => void;
  onClose: () => void;
}

/** Tools from a text in the form of OpenAI, Anthropic, Gemini or MCP. */
export function PasteDialog({ onAdd, onClose }: PasteDialogProps) {
  const id = useId();
  const [text, setText] = useState('');
  // A text of megabytes takes longer to read than a key press.
  const readText = useDeferredValue(text);
  const read = useMemo(() => {
    if (readText.trim() === '') return null;
    const parsed = parseJson(readText);
    return 'mistake' in parsed
      ? { problem: describeMistake(parsed.mistake) }
      : { converted: convertTools(parsed.value) };
  }, [readText]);
  const converted = read && 'converted' in read ? read.converted : null;
  const count = converted ? converted.tools.length + converted.providerTools.length : 0;
  const problem = read && 'problem' in read ? read.problem : converted && count === 0 ? 'No tools in this text' : null;
  const add = (): void => {
    if (converted && count > 0) onAdd(draftToolsOf(converted));
  };
  const footer = (
    <>
      <p className={problem ? 'small negative grow' : 'small tertiary grow'} role="status">
        {problem ?? (count > 0 ? '' : 'OpenAI, Anthropic, Gemini or MCP')}
      </p>
      <Button onClick={onClose}>Cancel</Button>
      <Button variant="primary" aria-disabled={count === 0 || undefined} onClick={add}>
        {count === 0 ? 'Add tools' : `Add ${formatPlural(count, 'tool')}`}
      </Button>
    </>
  );
  return (
    <Dialog title="Paste tools" isOpen isWide onClose={onClose} footer={footer}>
      <div className="labelled">
        <label htmlFor={id}>JSON of one tool, a list, a request or a tools/list response</label>
        <div className="field field--area mono--small">
          <textarea
            id={id}
            rows={12}
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      </div>
      {converted && <Found converted={converted} />}
    </Dialog>
  );
}
