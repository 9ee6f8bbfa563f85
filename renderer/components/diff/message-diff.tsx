import { useMemo, useState } from 'react';
import { Button } from '../button.tsx';
import { formatPlural } from '../format.ts';
import { lineTimeout } from './diff-rows.ts';
import { type ComparedMessage, type MessagePair, pairMessages, pairParts } from './message-pairs.ts';
import { DiffViewToggle, TextDiff } from './text-diff.tsx';
import './diff.css';

/** Changed messages that are drawn at first. More would block the window. */
const pairsAtOnce = 20;

/** More equal messages in a row are one line until someone opens them. */
const maxEqual = 2;

type Names = readonly [string, string];

/** A message with its number in the list of both sides, from 1. */
type NumberedPair = MessagePair & { number: number };

function titleOf({ before, after }: MessagePair): string {
  if (!before || !after || before.title === after.title) return (after ?? before)!.title;
  return `${before.title} → ${after.title}`;
}

function noteOf(before: string | null, after: string | null): string | undefined {
  if (before === null) return 'Added';
  return after === null ? 'Removed' : undefined;
}

function ChangedMessage({ pair, names, timeout }: { pair: NumberedPair; names: Names; timeout: number }) {
  const title = `${pair.number}. ${titleOf(pair)}`;
  return (
    <div role="group" aria-label={title}>
      {pairParts(pair.before, pair.after).map(({ label, before, after }, index) => {
        const note = noteOf(before, after);
        return (
          <TextDiff
            key={index}
            title={label === '' ? title : `${title}: ${label}`}
            before={before ?? ''}
            after={after ?? ''}
            names={names}
            timeout={timeout}
            {...(note !== undefined && { note })}
          />
        );
      })}
    </div>
  );
}

function previewOf({ parts }: ComparedMessage): string {
  const [first] = parts;
  return `${first?.label ?? ''} ${first?.text.slice(0, 200) ?? ''}`.trim().split('\n', 1)[0]!;
}

/** Text is only drawn when someone opens the message: it may have megabytes. */
function EqualMessage({ pair }: { pair: NumberedPair }) {
  const [isOpen, setOpen] = useState(false);
  const message = pair.after!;
  return (
    <details className="message-diff line-top" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="message-diff__title">
          {pair.number}. {titleOf(pair)}
        </span>
        <span className="caption tertiary">No changes</span>
        {!isOpen && <span className="caption tertiary truncate">{previewOf(message)}</span>}
      </summary>
      {isOpen &&
        message.parts.map(({ label, text }, index) => (
          <div key={index} className="message-diff__part">
            {label !== '' && <h4 className="caption tertiary">{label}</h4>}
            <p className="mono">{text}</p>
          </div>
        ))}
    </details>
  );
}

function EqualMessages({ pairs }: { pairs: readonly NumberedPair[] }) {
  const [isOpen, setOpen] = useState(pairs.length <= maxEqual);
  if (isOpen) return pairs.map((pair) => <EqualMessage key={pair.number} pair={pair} />);
  return (
    <div className="message-diff__fold">
      <button type="button" onClick={() => setOpen(true)}>
        {formatPlural(pairs.length, 'unchanged message')}
      </button>
    </div>
  );
}

/** Equal messages in a row, or a single changed one. */
function groupPairs(pairs: readonly MessagePair[]): NumberedPair[][] {
  const groups: NumberedPair[][] = [];
  for (const [index, pair] of pairs.entries()) {
    const numbered = { ...pair, number: index + 1 };
    const last = groups.at(-1);
    if (pair.isSame && last?.[0]?.isSame) last.push(numbered);
    else groups.push([numbered]);
  }
  return groups;
}

interface MessageDiffProps {
  before: readonly ComparedMessage[];
  after: readonly ComparedMessage[];
  /** Names of the two sides: `Version 2`. */
  names: Names;
}

/** Two conversations message by message: role, text, files, calls and results. */
export function MessageDiff({ before, after, names }: MessageDiffProps) {
  const pairs = useMemo(() => pairMessages(before, after), [before, after]);
  const groups = useMemo(() => groupPairs(pairs), [pairs]);
  const [shown, setShown] = useState(pairsAtOnce);
  const changed = pairs.filter(({ isSame }) => !isSame).length;
  const timeout = lineTimeout / Math.max(1, Math.min(changed, shown));
  return (
    <section aria-label="Messages">
      <div className="header line-top">
        <h3>Messages</h3>
        <span className="caption tertiary">
          {changed === 0 ? 'No changes' : `${changed} of ${formatPlural(pairs.length, 'message')} changed`}
        </span>
        <span className="grow" />
        {changed > 0 && <DiffViewToggle />}
      </div>
      {groups.slice(0, shown).map((group) => {
        const [first] = group as [NumberedPair];
        if (first.isSame) return <EqualMessages key={first.number} pairs={group} />;
        return <ChangedMessage key={first.number} pair={first} names={names} timeout={timeout} />;
      })}
      {groups.length > shown && (
        <div className="compare__more">
          <Button size="small" onClick={() => setShown(shown + pairsAtOnce)}>
            Show more ({formatPlural(pairs.length, 'message')} in total)
          </Button>
        </div>
      )}
    </section>
  );
}
