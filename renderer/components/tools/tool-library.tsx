import { Ellipsis, Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton, ShowMore } from '../button.tsx';
import { ConfirmDialog } from '../dialog.tsx';
import { Menu } from '../menu.tsx';
import { Select } from '../select.tsx';
import { describeError, ErrorFailure } from '../state-panels.tsx';
import { TextField } from '../text-field.tsx';
import type { Tool, ToolInput, ToolVersion } from '../../../shared/contract/tool-library.ts';
import { isObject } from '../../../shared/json-schema.ts';
import { parseJson } from '../../drafts/json-text.ts';
import { type FunctionTool, newTool } from '../../drafts/tool-drafts.ts';
import { useDeleteTool, useReadTool, useSaveTool, useToolList, useToolVersions } from '../../queries/tools.ts';
import { showToast } from '../../stores/toasts.ts';

/** What has the tools. */
export type ToolsSubject = 'prompt' | 'agent';

export const mockNames = { fixed: 'Fixed', lookUp: 'Lookup', recorded: 'Recording' } as const;

/** The fields of a draft's tool that a version fills in. */
export function versionFields(version: ToolVersion): Omit<FunctionTool, 'kind' | 'id'> {
  const { id, toolId, name, description, parameters, strict, mock } = version;
  return {
    name,
    description: description ?? '',
    parameters: JSON.stringify(parameters, null, 2),
    strict,
    mock,
    source: { toolId, versionId: id },
  };
}

/** The version that a tool would be saved as; null while its schema is no JSON object. */
function inputOf({ name, description, parameters, strict, mock }: FunctionTool): ToolInput | null {
  const parsed = parseJson(parameters);
  if (!('value' in parsed) || !isObject(parsed.value)) return null;
  return { name, description: description === '' ? null : description, parameters: parsed.value, strict, mock };
}

function isSame(input: ToolInput, version: ToolVersion): boolean {
  const contents = ({ name, description, parameters, strict, mock }: ToolInput) =>
    JSON.stringify([name, description ?? null, parameters, strict ?? null, mock ?? null]);
  return contents(input) === contents(version);
}

/** Saves a tool of the prompt to the library, and opens its earlier versions. */
export function SaveTool({
  tool,
  onChange,
}: {
  tool: FunctionTool;
  onChange: (change: Partial<FunctionTool>) => void;
}) {
  const toolId = tool.source?.toolId ?? null;
  const versions = useToolVersions(toolId);
  const save = useSaveTool();
  const stored = versions.data?.data;
  // Someone may have deleted the tool in the library.
  const isStored = toolId !== null && !versions.isError;
  const version = stored?.find(({ id }) => id === tool.source?.versionId);
  const input = inputOf(tool);
  const isEdited = !input || !version || !isSame(input, version);
  const press = (): void => {
    if (!input) return;
    // Also when another tool is open by then: without its source the next save would make a second tool.
    save.mutateAsync({ toolId: isStored ? toolId : null, body: input }).then(
      ({ id, toolId: savedId, number, name }) => {
        onChange({ source: { toolId: savedId, versionId: id } });
        showToast({ tone: 'neutral', text: `Saved version ${number} of ${name} to the library.` });
      },
      () => {},
    );
  };
  return (
    <>
      {save.error && (
        <span className="small negative truncate" role="alert">
          {describeError(save.error).message}
        </span>
      )}
      {isStored && stored && stored.length > 0 && (
        <Select
          label="Version"
          value={version?.id ?? null}
          placeholder="Earlier version"
          options={stored.map(({ id, number }) => ({ value: id, label: `Version ${number}` }))}
          onValueChange={(id) => {
            const chosen = stored.find((one) => one.id === id);
            if (chosen) onChange(versionFields(chosen));
          }}
        />
      )}
      {(!isStored || isEdited) && (
        <Button isBusy={save.isPending} aria-disabled={input === null || undefined} onClick={press}>
          {isStored ? 'Save version' : 'Save to library'}
        </Button>
      )}
    </>
  );
}

interface LibraryRowProps {
  tool: Tool;
  subject: ToolsSubject;
  onAdd: () => void;
  onDelete: () => void;
}

function LibraryRow({ tool, subject, onAdd, onDelete }: LibraryRowProps) {
  const { name, description, mockKind } = tool;
  return (
    <li className="tool-row">
      <button type="button" className="tool-row__open" title={description ?? undefined} onClick={onAdd}>
        <span className="mono truncate">{name}</span>
        <span className="caption tertiary truncate">{mockKind === null ? 'By hand' : mockNames[mockKind]}</span>
      </button>
      <Menu
        align="end"
        groups={[
          [{ label: `Add to ${subject}`, icon: Plus, onSelect: onAdd }],
          [{ label: 'Delete from library', isNegative: true, onSelect: onDelete }],
        ]}
      >
        <IconButton icon={Ellipsis} label={`More actions for ${name}`} size="small" />
      </Menu>
    </li>
  );
}

/** Confirms that a tool is deleted from the library. */
function DeleteToolDialog({ tool, onClose }: { tool: Tool | null; onClose: () => void }) {
  const { mutate: deleteTool } = useDeleteTool();
  return (
    <ConfirmDialog
      title={`Delete ${tool?.name ?? 'the tool'}?`}
      isOpen={tool !== null}
      onClose={onClose}
      action="Delete tool"
      onConfirm={() => {
        if (tool) deleteTool(tool.id);
        onClose();
      }}
    >
      All its versions are deleted from the library. Prompts that have the tool keep it. This can&apos;t be undone.
    </ConfirmDialog>
  );
}

function LibrarySearch({ value, onChange }: { value: string; onChange: (search: string) => void }) {
  return (
    <div className="tools-view__search">
      <TextField
        label="Search the library"
        isLabelHidden
        size="small"
        icon={Search}
        type="search"
        placeholder="Search"
        value={value}
        onValueChange={onChange}
      />
    </div>
  );
}

/** The tools of the library, each to be added to the prompt or agent. */
export function ToolLibrary({ subject, onAdd }: { subject: ToolsSubject; onAdd: (tool: FunctionTool) => void }) {
  const [search, setSearch] = useState('');
  const list = useToolList(search);
  const readTool = useReadTool();
  const [removed, setRemoved] = useState<Tool | null>(null);
  const tools = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const add = async (tool: Tool): Promise<void> => {
    try {
      onAdd(newTool(versionFields(await readTool(tool))));
    } catch (error) {
      const { message, requestId } = describeError(error);
      showToast({ tone: 'negative', text: message, requestId });
    }
  };
  return (
    <section className="tools-view__library" aria-label="Library">
      <div className="header line-top">
        <h2>Library</h2>
      </div>
      {(tools.length > 0 || search !== '') && <LibrarySearch value={search} onChange={setSearch} />}
      {list.isError && (
        <ErrorFailure title="Couldn't load the library" error={list.error}>
          <Button size="small" onClick={() => void list.refetch()}>
            Retry
          </Button>
        </ErrorFailure>
      )}
      {list.isSuccess && tools.length === 0 && (
        <p className="caption tertiary tool-pane__note">
          {search === '' ? 'Tools that you save appear here.' : `No results for "${search}".`}
        </p>
      )}
      <ul aria-label="Tools in the library">
        {tools.map((tool) => (
          <LibraryRow
            key={tool.id}
            tool={tool}
            subject={subject}
            onAdd={() => void add(tool)}
            onDelete={() => setRemoved(tool)}
          />
        ))}
      </ul>
      <ShowMore list={list} size="small" variant="quiet" />
      <DeleteToolDialog tool={removed} onClose={() => setRemoved(null)} />
    </section>
  );
}
