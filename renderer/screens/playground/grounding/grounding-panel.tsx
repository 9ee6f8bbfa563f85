import { Ban, ChevronDown, ChevronRight, Columns2, Eye, Pin } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { GroundingPassage, GroundingPreview } from '../../../../shared/contract/grounding.ts';
import { classNames } from '../../../components/class-names.ts';
import { CopyButton, IconButton } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { plainText } from '../../../components/markdown/plain-text.ts';
import { MarkedText } from '../../../components/marked-text.tsx';
import { sourceAddress } from '../../../shell/addresses.ts';
import { omissionText, rankText, toggleExclusion, togglePin, useGrounding } from './grounding-model.ts';
import { formatCount, formatDuration, formatPlural } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { ErrorFailure, LoadingRows, Notice } from '../../../components/state-panels.tsx';
import { type DraftGrounding, noGrounding, useActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import { usePlaygroundView } from '../../../stores/playground-view.ts';
import { useComparison } from '../session/playground-session.tsx';
import { useChosenModel } from '../session/use-runner.ts';
import { DataspaceChoice } from '../../../components/dataspace-choice.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import './grounding.css';

interface PassageRowProps {
  passage: GroundingPassage;
  /** The query of the search. */
  query: string;
  onPin: () => void;
  onExclude: () => void;
}

function PassageDetails({ passage }: { passage: GroundingPassage }) {
  const { page, tokens, relevance } = passage;
  const omission = omissionText(passage);
  const ranks = rankText(passage);
  return (
    <p className="row caption tertiary grounding__facts">
      {/* A pinned passage that no search found has no relevance. */}
      <span className="numbers nowrap">{ranks === null ? 'Pinned' : `${Math.round(relevance * 100)} %`}</span>
      {ranks !== null && <span className="nowrap">{ranks}</span>}
      {page !== undefined && <span className="nowrap">Page {page}</span>}
      <span className="numbers nowrap">about {tokens} tokens</span>
      {omission && <span className="nowrap caution">{omission}</span>}
    </p>
  );
}

/** One passage: its number in the prompt or why it has none, its rank in both searches, and buttons to pin or exclude it. */
export function PassageRow({ passage, query, onPin, onExclude }: PassageRowProps) {
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const { index, sourceId, sourceName, text, start, end, isPinned, omission } = passage;
  const isExcluded = omission === 'excluded';
  return (
    <li className={classNames('grounding__passage', index === null && 'is-left-out')}>
      <div className="row">
        <span className="mono--small grounding__number">{index === null ? '–' : `[${index}]`}</span>
        <button
          type="button"
          className="small medium truncate grounding__source"
          title={`Open ${sourceName} at this passage`}
          onClick={() => navigate(sourceAddress(sourceId, { start, end }))}
        >
          {sourceName}
        </button>
        <span className="grow" />
        <IconButton
          icon={Pin}
          size="small"
          label={isPinned ? 'Unpin' : 'Pin (always include)'}
          aria-pressed={isPinned}
          onClick={onPin}
        />
        <IconButton
          icon={Ban}
          size="small"
          label={isExcluded ? 'Include again' : 'Exclude'}
          aria-pressed={isExcluded}
          onClick={onExclude}
        />
      </div>
      <PassageDetails passage={passage} />
      <button
        type="button"
        className={classNames('small secondary grounding__text', isOpen && 'is-open')}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <MarkedText text={plainText(text)} query={query} {...(!isOpen && { characters: 110 })} />
      </button>
    </li>
  );
}

interface SentDialogProps {
  preview: GroundingPreview;
  onClose: () => void;
}

/** The messages that the model would receive: rules, passages, prompt. */
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
  result: ReturnType<typeof useGrounding>;
  onChange: (grounding: DraftGrounding) => void;
}

function Passages({ grounding, result, onChange }: PassagesProps) {
  const { preview, hasRequest, isDebouncing } = result;
  if (!hasRequest && isDebouncing) return <LoadingRows label="Searching passages" rows={3} />;
  if (!hasRequest) {
    return <p className="small tertiary grounding__note">Passages appear when the prompt is valid.</p>;
  }
  if (preview.isError) return <ErrorFailure title="Couldn't search the dataspaces" error={preview.error} />;
  if (!preview.data) return <LoadingRows label="Searching passages" rows={3} />;
  const { passages, query, keywordOnlyReason } = preview.data;
  return (
    <>
      {keywordOnlyReason && <Notice tone="caution">Keyword search only. {keywordOnlyReason}</Notice>}
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

function Compare() {
  const comparison = useComparison();
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

/** The dataspaces of the draft, and the passages that a run would send now. */
export function GroundingPanel() {
  const draft = useActiveDraft();
  const model = useChosenModel(draft);
  const isOpen = usePlaygroundView((view) => view.isGroundingOpen);
  const [isSentOpen, setSentOpen] = useState(false);
  const grounding = draft.grounding ?? noGrounding;
  const isOn = grounding.dataspaceIds.length > 0;
  const result = useGrounding(draft, model, isOn && (isOpen || isSentOpen));
  const set = (next: DraftGrounding): void => useDrafts.getState().change(draft.id, { grounding: next });
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
            <Icon icon={isOn && isOpen ? ChevronDown : ChevronRight} size="small" />
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
              aria-disabled={!result.preview.data}
              onClick={() => setSentOpen(true)}
            />
            <Compare />
          </>
        )}
      </div>
      {isOn && isOpen && (
        <div className="scroll grounding__passages">
          {result.preview.data && result.hasRequest && <Budget preview={result.preview.data} />}
          <Passages grounding={grounding} result={result} onChange={set} />
        </div>
      )}
      {isSentOpen && result.preview.data && (
        <SentDialog preview={result.preview.data} onClose={() => setSentOpen(false)} />
      )}
    </section>
  );
}
