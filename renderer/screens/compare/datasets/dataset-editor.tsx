import { Plus, Save, Search } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { AppError } from '../../../../shared/app-error.ts';
import { type Dataset, readDataset } from '../../../../shared/contract/datasets.ts';
import { Badge } from '../../../components/badges.tsx';
import { Button } from '../../../components/button.tsx';
import { formatPlural } from '../../../components/format.ts';
import { describeError, EmptyState } from '../../../components/state-panels.tsx';
import { useHost } from '../../../host/host-context.tsx';
import { useDataset, useEditDataset } from '../../../queries/datasets.ts';
import { useActions } from '../../../stores/actions.ts';
import { showToast } from '../../../stores/toasts.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { Conflict, EditorStatus, NewerVersion, OldVersion } from './editor-notices.tsx';
import { FindBar, Toolbar } from './editor-toolbar.tsx';
import { DataGrid } from './grid/data-grid.tsx';
import { InvalidCell, writeEditFile } from './grid/edit-file.ts';
import { createEditor, type Editor, type WorkControl } from './grid/editor.ts';
import { insertRow } from './grid/row-edits.ts';
import { VersionsMenu } from './versions-menu.tsx';

/** Where an error of the service says the row is: `rows[12].photo`. */
function selectFaulty(editor: Editor, error: unknown): void {
  if (error instanceof InvalidCell) return editor.select({ row: error.row, column: error.column });
  const field = error instanceof AppError ? error.details?.[0]?.field : undefined;
  const [, row, name] = /^rows\[(\d+)\](?:\.(.*))?$/s.exec(field ?? '') ?? [];
  if (row === undefined) return;
  const column = editor.getState().table.columns.findIndex((one) => one.name === name);
  editor.select({ row: Number(row), column: Math.max(0, column) });
}

/** For a person who has left the dataset. */
function tellNotSaved(editor: Editor, error: unknown): void {
  const { dataset, isStored } = editor.getState();
  const { message, requestId } = describeError(error);
  const consequence = isStored ? ' Your edits are kept.' : '';
  showToast({ tone: 'negative', text: `Couldn't save "${dataset.name}". ${message}${consequence}`, requestId });
}

function useSaveVersion(editor: Editor, onConflict: () => void) {
  const { mutateAsync } = useEditDataset();
  return (isOverwriting = false): void => {
    const { dataset, table, original } = editor.getState();
    if (table === original) return;
    const run = async (work: WorkControl): Promise<void> => {
      try {
        const file = await writeEditFile(editor, work);
        const saved = await mutateAsync({
          id: dataset.id,
          baseVersion: dataset.version,
          ...(!isOverwriting && { latestVersion: dataset.latestVersion }),
          note: '',
          file,
          signal: work.signal,
          onProgress: work.report,
        });
        editor.rebase(saved, table);
        const of = editor.isDisposed() ? ` of "${saved.name}"` : '';
        showToast({ tone: 'neutral', text: `Saved version ${saved.version}${of}.` });
      } catch (error) {
        if (editor.isDisposed()) return tellNotSaved(editor, error);
        if (error instanceof AppError && error.code === 'conflict') return onConflict();
        selectFaulty(editor, error);
        throw error;
      }
    };
    void editor.work('Saving', run, { outlastsEditor: true });
  };
}

function NoRows({ editor }: { editor: Editor }) {
  return (
    <div className="list-state">
      <EmptyState
        title="No rows yet"
        reason="Add a row and type, or click the grid and paste cells from a spreadsheet."
      >
        {!editor.isReadOnly && (
          <Button variant="primary" icon={Plus} onClick={() => insertRow(editor, 'end')}>
            Add row
          </Button>
        )}
      </EmptyState>
    </div>
  );
}

function useEditorActions(editor: Editor, { onFind, onSave }: { onFind: () => void; onSave: () => void }): void {
  const group = 'Dataset';
  const isEnabled = !editor.isReadOnly;
  useActions('dataset', [
    { id: 'dataset.find', title: 'Find in dataset', group, icon: Search, keys: 'Mod+F', run: onFind },
    { id: 'dataset.save', title: 'Save version of dataset', group, icon: Save, keys: 'Mod+S', isEnabled, run: onSave },
    {
      id: 'dataset.insert-row',
      title: 'Insert row below',
      group,
      icon: Plus,
      keys: 'Mod+Enter',
      isEnabled,
      run: () => insertRow(editor, 'below'),
    },
  ]);
}

function Footer({ editor, onSave }: { editor: Editor; onSave: () => void }) {
  const { table, original, activity } = useStore(editor);
  const isChanged = table !== original;
  const isWorking = activity !== null;
  return (
    <div className="dataset-editor__foot line-top">
      <Button size="small" icon={Plus} onClick={() => insertRow(editor, 'end')}>
        Add row
      </Button>
      <span className="caption tertiary truncate wide-only">
        Enter edits, Tab moves on, Alt+Enter adds a line. Paste cells from a spreadsheet.
      </span>
      <span className="grow" />
      {isChanged && (
        <Button size="small" variant="quiet" aria-disabled={isWorking || undefined} onClick={editor.discard}>
          Discard edits
        </Button>
      )}
      <Button
        variant="primary"
        icon={Save}
        keys="Mod+S"
        aria-disabled={!isChanged || undefined}
        isBusy={activity?.label === 'Saving'}
        onClick={onSave}
      >
        Save version
      </Button>
    </div>
  );
}

function EditorView({ editor, latest }: { editor: Editor; latest: Dataset }) {
  const [isFinding, setFinding] = useState(false);
  const [isConflict, setConflict] = useState(false);
  const { dataset, table, original, isReady, activity } = useStore(editor);
  const save = useSaveVersion(editor, () => setConflict(true));
  const isChanged = table !== original;
  const isBehind = !editor.isReadOnly && dataset.version < latest.latestVersion;
  useShowPageTitle(latest.name);
  useEditorActions(editor, { onFind: () => setFinding(true), onSave: () => save() });
  // Nothing was edited here, so the newer version replaces the older one.
  useEffect(() => {
    if (isReady && isBehind && !isChanged && activity === null) editor.rebase(latest);
  }, [editor, isReady, isBehind, isChanged, activity, latest]);
  return (
    <section className="dataset-editor" aria-label={latest.name}>
      <Toolbar editor={editor} dataset={latest} onFind={() => setFinding(true)}>
        <VersionsMenu dataset={latest} shown={dataset.version} />
        <span className="caption tertiary nowrap wide-only numbers">
          {formatPlural(table.rowCount, 'row')}, {formatPlural(table.columns.length, 'column')}
        </span>
        {isChanged && <Badge tone="caution">Unsaved</Badge>}
      </Toolbar>
      {isFinding && <FindBar editor={editor} onClose={() => setFinding(false)} />}
      <EditorStatus editor={editor} />
      {editor.isReadOnly && <OldVersion dataset={dataset} latest={latest} />}
      {isBehind && isChanged && activity?.label !== 'Saving' && (
        <NewerVersion base={dataset.version} latest={latest.latestVersion} onResolve={() => setConflict(true)} />
      )}
      {isReady && <DataGrid editor={editor} label={`Rows of ${latest.name}`} />}
      {isReady && table.rowCount === 0 && <NoRows editor={editor} />}
      {!editor.isReadOnly && isReady && <Footer editor={editor} onSave={() => save()} />}
      {isConflict && (
        <Conflict
          latest={latest.latestVersion}
          base={dataset.version}
          onClose={() => setConflict(false)}
          onOverwrite={() => {
            setConflict(false);
            save(true);
          }}
          onDiscard={() => {
            setConflict(false);
            editor.rebase(latest);
          }}
        />
      )}
    </section>
  );
}

/** One version of a dataset in a grid. Only the latest version can be edited. */
export function DatasetEditor({ latest, version }: { latest: Dataset; version: Dataset }) {
  const { client } = useHost();
  const [editor, setEditor] = useState<Editor | null>(null);
  const opened = useRef(version);
  useEffect(() => {
    const next = createEditor({
      client,
      dataset: opened.current,
      isReadOnly: opened.current.version !== opened.current.latestVersion,
      readVersion: async (number) => {
        try {
          return await client.call(readDataset, { parameters: { id: opened.current.id }, query: { version: number } });
        } catch (error) {
          showToast({ tone: 'negative', text: `Couldn't load your unsaved edits. ${describeError(error).message}` });
          return null;
        }
      },
    });
    setEditor(next);
    return () => next.dispose();
  }, [client]);
  return editor && <EditorView editor={editor} latest={latest} />;
}

/** Loads a dataset and the version that the address names; null is the latest one. */
export function useOpenDataset(datasetId: string, version: number | null) {
  const latest = useDataset(datasetId);
  const shown = useDataset(version === null ? null : datasetId, version);
  return { latest, shown: version === null ? latest : shown };
}
