import { ChevronDown, ChevronRight, Columns2, Eye } from 'lucide-react';
import { useState } from 'react';
import type { GroundingPreview } from '../../../../shared/contract/grounding.ts';
import { formatCount, formatDuration, formatPlural } from '../../../components/format.ts';
import { IconButton } from '../../../components/icon-button.tsx';
import { Menu } from '../../../components/menu.tsx';
import { ErrorFailure, LoadingRows, Notice } from '../../../components/state-panels.tsx';
import { type DraftGrounding, noGrounding } from '../../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import type { PlaygroundState } from '../playground.tsx';
import { DataspaceChoice } from '../../../components/dataspace-choice.tsx';
import { toggleExclusion, togglePin } from './passage-choice.ts';
import { PassageRow } from './passage-row.tsx';
import { useGrounding } from './use-grounding.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import './grounding.css';

interface SentDialogProps {
  preview: GroundingPreview;
  onClose: () => void;
}

/** The conversation as the model gets it: rules, passages, prompt. */
function SentDialog({ preview, onClose }: SentDialogProps) {
  const { messages, configuration } = preview;
  const text = messages.map(({ role, content }) => `${role}:\n${content}`).join('\n\n');
  const parameters = Object.entries(configuration);
  return (
    <Dialog
      title="Preview final prompt"
      isOpen
      isWide
      onClose={onClose}
      footer={<CopyButton text={text} label="Copy" />}
    >
      <div className="grounding__sent">
        {messages.map(({ role, content }, index) => (
          <section key={index} aria-label={role}>
            <h3 className="caption tertiary">{role}</h3>
            <pre className="mono scroll" tabIndex={0}>
              {content}
            </pre>
          </section>
        ))}
        {parameters.length > 0 && (
          <p className="small tertiary">
            Parameters: <span className="mono--small">{JSON.stringify(configuration)}</span>
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Budget({ preview }: { preview: GroundingPreview }) {
  const { budget, passages, milliseconds } = preview;
  const given = passages.filter(({ index }) => index !== null).length;
  const took = milliseconds.embedding + milliseconds.search;
  return (
    <p className="row caption tertiary grounding__budget">
      <span className="nowrap">{formatPlural(given, 'passage')} used</span>
      <span className="nowrap numbers">
        about {formatCount(budget.used)} of {formatCount(budget.tokens)} tokens
      </span>
      <span className="nowrap">Found in {formatDuration(took)}</span>
    </p>
  );
}

interface PassagesProps {
  grounding: DraftGrounding;
  found: ReturnType<typeof useGrounding>;
  onChange: (grounding: DraftGrounding) => void;
}

function Passages({ grounding, found, onChange }: PassagesProps) {
  const { preview, hasRequest, isSettling } = found;
  if (!hasRequest && isSettling) return <LoadingRows label="Searching passages" rows={3} />;
  if (!hasRequest) {
    return <p className="small tertiary grounding__note">Passages appear when the prompt is valid.</p>;
  }
  if (preview.isError) return <ErrorFailure title="Couldn't search the dataspaces" error={preview.error} />;
  if (!preview.data) return <LoadingRows label="Searching passages" rows={3} />;
  const { passages, query, wordsAloneBecause } = preview.data;
  return (
    <>
      {wordsAloneBecause && <Notice tone="caution">Keyword search only. {wordsAloneBecause}</Notice>}
      {passages.length === 0 && (
        <p className="small tertiary grounding__note">
          No passages found. The prompt tells the model to say that it doesn't know.
        </p>
      )}
      <ol>
        {passages.map((passage) => (
          <PassageRow
            key={`${passage.sourceId} ${passage.start}`}
            passage={passage}
            query={query}
            onPin={() => onChange(togglePin(grounding, passage))}
            onExclude={() => onChange(toggleExclusion(grounding, passage))}
          />
        ))}
      </ol>
    </>
  );
}

function Compare({ state }: { state: PlaygroundState }) {
  const { comparison } = state;
  return (
    <Menu
      align="end"
      groups={[
        [
          { label: 'Run with and without grounding', onSelect: comparison.withoutPassages },
          { label: 'Run on another model with the same passages', onSelect: () => comparison.add({ run: true }) },
        ],
      ]}
    >
      <IconButton icon={Columns2} label="Run side by side" size="small" />
    </Menu>
  );
}

/** What the prompt is answered from: dataspaces, and the passages that would be given now. */
export function GroundingPanel({ state }: { state: PlaygroundState }) {
  const { draft, model, change } = state;
  const isOpen = usePlaygroundView((view) => view.isGroundingOpen);
  const [isSentOpen, setSentOpen] = useState(false);
  const grounding = draft.grounding ?? noGrounding;
  const isOn = grounding.dataspaceIds.length > 0;
  const found = useGrounding(draft, model, isOn && (isOpen || isSentOpen));
  const set = (next: DraftGrounding): void => change({ grounding: next });
  return (
    <section className="panel grounding" aria-label="Grounding">
      <div className="header line-top">
        <h2>
          <button
            type="button"
            className="row fold-title"
            aria-expanded={isOn && isOpen}
            aria-disabled={!isOn}
            onClick={() => isOn && usePlaygroundView.setState({ isGroundingOpen: !isOpen })}
          >
            {isOn && isOpen ? (
              <ChevronDown className="icon icon--small" />
            ) : (
              <ChevronRight className="icon icon--small" />
            )}
            Grounding
          </button>
        </h2>
        <DataspaceChoice
          dataspaceIds={grounding.dataspaceIds}
          onChange={(dataspaceIds) => {
            set({ ...grounding, dataspaceIds });
            if (!isOn) usePlaygroundView.setState({ isGroundingOpen: true });
          }}
        />
        <span className="grow" />
        {isOn && (
          <>
            <IconButton
              icon={Eye}
              label="Preview final prompt"
              size="small"
              aria-disabled={!found.preview.data}
              onClick={() => setSentOpen(true)}
            />
            <Compare state={state} />
          </>
        )}
      </div>
      {isOn && isOpen && (
        <div className="scroll grounding__passages">
          {found.preview.data && found.hasRequest && <Budget preview={found.preview.data} />}
          <Passages grounding={grounding} found={found} onChange={set} />
        </div>
      )}
      {isSentOpen && found.preview.data && (
        <SentDialog preview={found.preview.data} onClose={() => setSentOpen(false)} />
      )}
    </section>
  );
}
