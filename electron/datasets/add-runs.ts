import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { missingMessages } from '../../shared/continued-field.ts';
import type { AddedRunsInput, RunDataset } from '../../shared/contract/dataset-import.ts';
import type { DatasetColumn, RowValues } from '../../shared/contract/datasets.ts';
import { type MessageRole, textOfMessage, textOfToolCalls } from '../../shared/contract/messages.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { RunStore } from '../storage/storage.ts';
import { readAnywhere, type TeamRecords } from '../team/team-records.ts';
import type { Datasets, RowAuthor } from './create-datasets.ts';

/** Characters of prompts and answers that are added at once: they are in memory until they are stored. */
const maxAddedCharacters = 16 * 1_048_576;

/** The columns of a dataset, with those that runs add to it. */
class GrownColumns {
  readonly list: DatasetColumn[];

  constructor(columns: readonly DatasetColumn[]) {
    this.list = [...columns];
  }

  has(name: string): boolean {
    return this.list.some((column) => column.name === name);
  }

  require(name: string, type: DatasetColumn['type']): string {
    if (!this.has(name)) this.list.push({ name, type });
    return name;
  }

  /** The chosen column, the one of our own name, or the first of a type. */
  choose(chosen: string | undefined, name: string, type: DatasetColumn['type']): string {
    if (chosen !== undefined || this.has(name)) return this.require(chosen ?? name, type);
    return this.list.find((column) => column.type === type)?.name ?? this.require(name, type);
  }
}

const speakers: Readonly<Record<MessageRole, string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

/** What a run asked: of a program's call with several messages, all of them, because the last one alone is no prompt. */
export function promptOf({ origin, input }: RunDetail): string {
  const { messages, renderedPrompt, promptText } = input;
  if (origin.api === 'completions' || messages.length < 2) return renderedPrompt ?? promptText;
  const texts = messages.map((message) => {
    const parts = [textOfMessage(message), textOfToolCalls(message)].filter((text) => text !== '');
    return `${speakers[message.role]}: ${parts.join('\n')}`;
  });
  return texts.join('\n\n');
}

/** What a row needs of a run. */
interface AddedRun extends Pick<RunDetail, 'runId' | 'model'> {
  readonly replacements: RunDetail['input']['replacements'];
  readonly prompt: string;
  readonly answer: string;
}

function rowOf(
  { runId, model, replacements, prompt, answer }: AddedRun,
  columns: GrownColumns,
  names: AddedRunsInput['columns'],
) {
  const given = Object.entries(replacements ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const variables = given.length > 0 ? given : [[columns.choose(names?.prompt, 'run prompt', 'text'), prompt] as const];
  for (const [name, value] of variables) columns.require(name, typeof value === 'string' ? 'text' : 'json');
  const own = { 'run model': model, 'run ID': runId };
  const known = Object.entries(own).filter(([name]) => columns.has(name));
  const answerColumn = columns.choose(names?.answer, 'run answer', 'expected');
  return Object.fromEntries([...variables, ...known, [answerColumn, answer]]) as RowValues;
}

/** Adds a version with a row for each run. Throws `not_found`, and `invalid_request` for an unknown run and for one without texts. */
export async function addRuns(
  datasetId: string,
  { runIds, columns: names }: AddedRunsInput,
  {
    datasets,
    runs,
    team,
  }: {
    readonly datasets: Pick<Datasets, 'read' | 'addVersion'>;
    readonly runs: Pick<RunStore, 'read'>;
    readonly team?: TeamRecords;
  },
  author: RowAuthor & { readonly readsTeam?: boolean },
): Promise<RunDataset> {
  datasets.read(datasetId, null);
  const added: AddedRun[] = [];
  let skippedRuns = 0;
  let characters = 0;
  for (const [index, id] of [...new Set(runIds.map((runId) => runId.toLowerCase()))].entries()) {
    const run = await readAnywhere(id, runs, author.readsTeam === true ? team : undefined);
    if (run === null) throw invalidField(`runIds[${index}]`, 'is not a run');
    const missing = run.isAnonymised ? null : missingMessages(run);
    if (missing !== null) throw invalidField(`runIds[${index}]`, 'continues messages that are not recorded', missing);
    const { runId, model, isAnonymised, input, output } = run;
    const prompt = promptOf(run);
    if (isAnonymised) skippedRuns += 1;
    else added.push({ runId, model, replacements: input.replacements, prompt, answer: output.content });
    characters += prompt.length + output.content.length;
    if (characters > maxAddedCharacters)
      throw new AppError('payload_too_large', 'These runs have more than 16 MB of text. Add fewer at once.');
    await nextTurn();
    author.signal.throwIfAborted();
  }
  if (added.length === 0)
    throw invalidField('runIds', 'has no run with texts', 'The texts of these runs were deleted.');
  const note = `${added.length} recorded ${added.length === 1 ? 'run' : 'runs'} added`;
  const dataset = await datasets.addVersion(
    datasetId,
    (latest) => {
      const columns = new GrownColumns(latest.columns);
      const rows = added.map((run) => rowOf(run, columns, names));
      return { columns: columns.list, changes: { added: rows }, note };
    },
    author,
  );
  return { ...dataset, skippedRuns };
}
