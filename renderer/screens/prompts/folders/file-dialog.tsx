import { type RefObject, useId, useState } from 'react';
import type { FolderFile, PromptFolder } from '../../../../shared/contract/prompt-folders.ts';
import type { PromptInput } from '../../../../shared/contract/prompts.ts';
import { versionContent } from '../../../../shared/prompt-content.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { describeError, QueryView } from '../../../components/state-panels.tsx';
import { useReturnFocus } from '../../../components/focus.ts';
import { VersionDifferences } from '../../../components/diff/version-diff.tsx';
import { choicesOf, openFolders, type Settlement, useFolderFile, useResolveConflict } from './linked-folders.ts';
import { Segmented } from '../../../components/choices.tsx';

interface MergeFieldsProps {
  mine: PromptInput;
  file: PromptInput;
  merged: PromptInput;
  onChange: (merged: PromptInput) => void;
}

const texts = ['promptText', 'systemMessage'] as const;

/** A merged version: the person edits the texts, everything else comes from one side. */
function MergeFields({ mine, file, merged, onChange }: MergeFieldsProps) {
  const id = useId();
  const hasSettingsOfFile = merged.configuration === file.configuration && merged.variables === file.variables;
  const choose = (side: 'mine' | 'file'): void => {
    const { promptText, systemMessage } = merged;
    onChange({ ...(side === 'mine' ? mine : file), promptText, systemMessage });
  };
  return (
    <div className="prompts__form">
      <div className="row">
        <span className="label">Take name, model and settings from</span>
        <Segmented
          label="Take name, model and settings from"
          value={hasSettingsOfFile ? 'file' : 'mine'}
          options={[
            { value: 'mine', label: 'Library version' },
            { value: 'file', label: 'File' },
          ]}
          onValueChange={choose}
        />
      </div>
      {texts.map((name) => (
        <div key={name} className="labelled">
          <label htmlFor={`${id}-${name}`}>{name === 'promptText' ? 'Prompt' : 'System message'}</label>
          <textarea
            id={`${id}-${name}`}
            className="field mono import-pasted"
            rows={name === 'promptText' ? 10 : 4}
            spellCheck={false}
            autoFocus={name === 'promptText'}
            value={merged[name] ?? ''}
            onChange={(event) => onChange({ ...merged, [name]: event.target.value })}
          />
        </div>
      ))}
    </div>
  );
}

const sideNames = ['Library version', 'File'] as const;

/** Name, description and tags, where they differ. */
function Details({ mine, file }: { mine: PromptInput; file: PromptInput }) {
  const details = (input: PromptInput) => [
    ['Name', input.name],
    ['Description', input.description ?? ''],
    ['Tags', (input.tags ?? []).join(', ')],
  ];
  const [left, right] = [details(mine), details(file)];
  const rows = left.flatMap(([name, value], index) => {
    const other = right[index]![1];
    return value === other ? [] : [{ name, value, other }];
  });
  if (rows.length === 0) return null;
  return (
    <table className="compare compare--settings" aria-label="Details">
      <thead>
        <tr>
          <th>Detail</th>
          <th>{sideNames[0]}</th>
          <th>{sideNames[1]}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, value, other }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value || <span className="tertiary">None</span>}</td>
            <td>{other || <span className="tertiary">None</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sides({ shown }: { shown: FolderFile }) {
  const { mine, file } = shown;
  if (mine && file?.prompt) {
    return (
      <>
        <Details mine={mine} file={file.prompt} />
        <div className="linked__sides caption tertiary" aria-hidden="true">
          <span>{sideNames[0]}</span>
          <span>{sideNames[1]}</span>
        </div>
        <VersionDifferences before={versionContent(mine)} after={versionContent(file.prompt)} names={sideNames} />
      </>
    );
  }
  return (
    <>
      {mine && (
        <section aria-label={sideNames[0]}>
          <h3>{sideNames[0]}</h3>
          <pre className="linked__text mono--small">{mine.promptText}</pre>
        </section>
      )}
      {file && (
        <section aria-label={sideNames[1]}>
          <h3>{sideNames[1]}</h3>
          <pre className="linked__text mono--small">{file.text}</pre>
        </section>
      )}
    </>
  );
}

interface SideChoicesProps {
  shown: FolderFile;
  mergeButton: RefObject<HTMLButtonElement | null>;
  isBusy: boolean;
  /** Null where one side has no prompt. */
  onMerge: (() => void) | null;
  onDecide: (side: 'file' | 'mine') => void;
}

/** Buttons to use one side, or to merge both. */
function SideChoices({ shown, mergeButton, isBusy, onMerge, onDecide }: SideChoicesProps) {
  const words = choicesOf(shown);
  return (
    <>
      {onMerge && (
        <Button ref={mergeButton} onClick={onMerge}>
          Merge
        </Button>
      )}
      <span className="grow" />
      {(['file', 'mine'] as const).map(
        (side) =>
          words[side] !== null && (
            <Button key={side} isBusy={isBusy} onClick={() => onDecide(side)}>
              {words[side]}
            </Button>
          ),
      )}
    </>
  );
}

function Decision({ folder, shown, onClose }: { folder: PromptFolder; shown: FolderFile; onClose: () => void }) {
  const { issue, mine, file, versionId } = shown;
  const [merged, setMerged] = useState<PromptInput | null>(null);
  const mergeButton = useReturnFocus<HTMLButtonElement>(merged !== null);
  const resolveConflict = useResolveConflict(folder.id);
  const decide = (choice: Settlement['choice']): void =>
    resolveConflict.mutate(
      {
        path: issue.path,
        choice,
        versionId,
        hash: file?.hash ?? null,
        ...(choice === 'merged' && merged && { prompt: merged }),
      },
      { onSuccess: onClose },
    );
  return (
    <>
      <p className="small secondary">
        {issue.message}
        {issue.line !== null && `, line ${issue.line}`}.
      </p>
      <div className="linked__compare scroll" tabIndex={0} role="region" aria-label="Library version and file">
        {merged ? (
          <MergeFields mine={mine!} file={file!.prompt!} merged={merged} onChange={setMerged} />
        ) : (
          <Sides shown={shown} />
        )}
      </div>
      {resolveConflict.error && (
        <p className="small negative" role="alert">
          {describeError(resolveConflict.error).message}
        </p>
      )}
      <div className="linked__choices">
        {merged ? (
          <>
            <Button onClick={() => setMerged(null)}>Back</Button>
            <span className="grow" />
            <Button variant="primary" isBusy={resolveConflict.isPending} onClick={() => decide('merged')}>
              Save version and update file
            </Button>
          </>
        ) : (
          <SideChoices
            shown={shown}
            mergeButton={mergeButton}
            isBusy={resolveConflict.isPending}
            onMerge={mine !== null && file?.prompt != null ? () => setMerged(mine) : null}
            onDecide={decide}
          />
        )}
      </div>
    </>
  );
}

/** A file that differs from its prompt: both sides, and the buttons that resolve it. */
export function FileDialog({ folder, path }: { folder: PromptFolder; path: string }) {
  const file = useFolderFile(folder.id, path);
  return (
    <Dialog title={path} isOpen isWide onClose={openFolders}>
      <QueryView query={file} subject="the file">
        {(shown) => <Decision folder={folder} shown={shown} onClose={openFolders} />}
      </QueryView>
    </Dialog>
  );
}
