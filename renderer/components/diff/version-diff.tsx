import { useMemo } from 'react';
import { formatPlural } from '../format.ts';
import { MessageDiff } from './message-diff.tsx';
import { hasSeveralMessages, messagesOfVersion } from './message-pairs.ts';
import { type ComparedSettings, diffSettings } from './settings-diff.ts';
import { TextDiff } from './text-diff.tsx';

interface Sides<Side> {
  before: Side;
  after: Side;
  /** Names of the two sides: `Version 2`. */
  names: readonly [string, string];
}

/** The settings that differ. Tools and schemas are compared line by line. */
export function SettingsDiff({ before, after, names }: Sides<ComparedSettings>) {
  const { differences, same } = useMemo(() => diffSettings(before, after), [before, after]);
  const short = differences.filter(({ isLong }) => !isLong);
  return (
    <>
      <section aria-label="Settings">
        <div className="header line-top">
          <h3>Settings</h3>
          <span className="caption tertiary">
            {differences.length === 0 ? 'No changes' : `${formatPlural(same, 'setting')} unchanged`}
          </span>
        </div>
        {short.length > 0 && (
          <table className="compare compare--settings" aria-label="Settings">
            <thead>
              <tr>
                <th>Setting</th>
                <th>{names[0]}</th>
                <th>{names[1]}</th>
              </tr>
            </thead>
            <tbody>
              {short.map(({ name, before: old, after: fresh }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{old === null ? <span className="tertiary">Not set</span> : <del>{old}</del>}</td>
                  <td>{fresh === null ? <span className="tertiary">Not set</span> : <ins>{fresh}</ins>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {differences
        .filter(({ isLong }) => isLong)
        .map(({ name, before: old, after: fresh }) => (
          <TextDiff
            key={name}
            title={name}
            before={old ?? ''}
            after={fresh ?? ''}
            names={names}
            {...(old === null && { note: 'Added' })}
            {...(fresh === null && { note: 'Removed' })}
          />
        ))}
    </>
  );
}

/** The compared content of a version. */
export interface ComparedVersion extends ComparedSettings {
  promptText: string;
  systemMessage: string | null;
}

function TextDiffs({ before, after, names }: Sides<ComparedVersion>) {
  const hasSystemDiff = (before.systemMessage ?? '') !== (after.systemMessage ?? '');
  return (
    <>
      {hasSystemDiff && (
        <TextDiff
          hasToggle
          title="System message"
          names={names}
          before={before.systemMessage ?? ''}
          after={after.systemMessage ?? ''}
        />
      )}
      <TextDiff
        hasToggle={!hasSystemDiff}
        title="Prompt"
        names={names}
        before={before.promptText}
        after={after.promptText}
      />
    </>
  );
}

/** The messages of both versions if one of them has several; null if they are compared as texts. */
function comparedMessages(before: ComparedVersion, after: ComparedVersion) {
  const [old, fresh] = [messagesOfVersion(before), messagesOfVersion(after)];
  if (!old || !fresh || (!hasSeveralMessages(old) && !hasSeveralMessages(fresh))) return null;
  // Only the tags between the messages differ.
  const isSame = JSON.stringify(old) === JSON.stringify(fresh);
  return isSame && before.promptText !== after.promptText ? null : { old, fresh };
}

/** The differences between two versions: messages or texts first. */
export function VersionDifferences({ before, after, names }: Sides<ComparedVersion>) {
  const messages = useMemo(() => comparedMessages(before, after), [before, after]);
  return (
    <>
      {messages ? (
        <MessageDiff before={messages.old} after={messages.fresh} names={names} />
      ) : (
        <TextDiffs before={before} after={after} names={names} />
      )}
      <SettingsDiff before={before} after={after} names={names} />
    </>
  );
}
