import type { RunDetail } from '../../shared/contract/runs.ts';
import { sentChatMessages } from '../common/chat-messages.ts';
import type { VoteStore } from '../storage/vote-store.ts';
import type { ExportedCell, ExportSource } from './export-source.ts';

/** A person's choice between the answers of two variants, by their numbers. */
export interface PairChoice {
  /** From 1. */
  readonly repeat: number;
  readonly chosen: number;
  readonly rejected: number;
}

/** Choices of finished blind votes by row. Those of others stay blind until they are finished. */
export function pairChoices(votes: Pick<VoteStore, 'blindVotes' | 'pairVotes'>, comparison: number) {
  const choices = new Map<number, PairChoice[]>();
  let continuationToken: string | null = null;
  do {
    const page = votes.blindVotes(comparison, { pageSize: 100, continuationToken });
    for (const { sequence, first, second, finishedAt } of page.data) {
      if (finishedAt === null) continue;
      for (const { row, repeat, vote } of votes.pairVotes(sequence)) {
        if (vote !== 'first' && vote !== 'second') continue;
        const [chosen, rejected] = vote === 'first' ? [first, second] : [second, first];
        choices.set(row, [...(choices.get(row) ?? []), { repeat: repeat + 1, chosen, rejected }]);
      }
    }
    ({ continuationToken } = page);
  } while (continuationToken !== null);
  return choices;
}

/** How many more people passed an answer than failed it. */
function balanceOf({ cell: { votes } }: ExportedCell): number {
  return votes.reduce((sum, { vote }) => sum + (vote === 'pass' ? 1 : vote === 'fail' ? -1 : 0), 0);
}

interface Preference {
  readonly chosen: ExportedCell;
  readonly rejected: ExportedCell;
  /** Who decided: people, or a judge. */
  readonly source: 'blind vote' | 'votes' | 'judge';
  /** The name of the judge. */
  readonly judge?: string;
}

/** The preferences in one row: choices between two answers, and answers that people passed against those that they failed. */
function preferencesIn(
  cells: readonly ExportedCell[],
  names: readonly string[],
  choices: readonly PairChoice[],
): Preference[] {
  const cellOf = (variant: number, repeat: number) =>
    cells.find(({ cell }) => cell.variant === names[variant] && cell.repeat === repeat);
  const blind = choices.flatMap(({ repeat, chosen, rejected }): Preference[] => {
    const [better, worse] = [cellOf(chosen, repeat), cellOf(rejected, repeat)];
    return better && worse ? [{ chosen: better, rejected: worse, source: 'blind vote' }] : [];
  });
  const passed = cells.filter((cell) => balanceOf(cell) > 0);
  const failed = cells.filter((cell) => balanceOf(cell) < 0);
  const voted = passed.flatMap((chosen) =>
    failed
      .filter(({ cell }) => cell.repeat === chosen.cell.repeat)
      .map((rejected): Preference => ({ chosen, rejected, source: 'votes' })),
  );
  return [...blind, ...voted];
}

/** Answers that a judge preferred to others of their row, if it is calibrated and hasn't changed since. */
function judgedIn(row: readonly ExportedCell[]): Preference[] {
  return row.flatMap((chosen) =>
    chosen.preferences.flatMap(({ judge, outcome, otherVariant, otherRepeat, isStale, counts }): Preference[] => {
      const other = row.find(({ cell }) => cell.variant === otherVariant && cell.repeat === otherRepeat);
      return other && outcome === 'better' && counts && !isStale
        ? [{ chosen, rejected: other, source: 'judge', judge }]
        : [];
    }),
  );
}

export interface PreferenceSource {
  readonly choices: ReadonlyMap<number, readonly PairChoice[]>;
  readonly readRun: (runId: string) => RunDetail | null;
}

async function* rowsOf(cells: AsyncIterable<ExportedCell>): AsyncGenerator<{ row: number; cells: ExportedCell[] }> {
  let [current, found]: [number, ExportedCell[]] = [0, []];
  for await (const exported of cells) {
    if (exported.row !== current) {
      yield { row: current, cells: found };
      [current, found] = [exported.row, []];
    }
    found.push(exported);
  }
  yield { row: current, cells: found };
}

/**
 * One line for each preference, in the conversational form that trainers read. Texts that the caller can't read, and
 * prompts with files, are left out.
 */
export async function* exportPreferences(
  { comparison, cells }: ExportSource,
  { choices, readRun }: PreferenceSource,
): AsyncGenerator<string> {
  const names = comparison.variants.map(({ name }) => name);
  for await (const { row, cells: inRow } of rowsOf(cells())) {
    const ofPeople = preferencesIn(inRow, names, choices.get(row) ?? []);
    for (const { chosen: better, rejected: worse, source, judge } of [...ofPeople, ...judgedIn(inRow)]) {
      const [chosen, rejected] = [better.readAnswer(), worse.readAnswer()];
      const { runId, repeat, variant: chosenVariant } = better.cell;
      if (!chosen || !rejected || runId === null) continue;
      const input = readRun(runId)?.input;
      if (input?.renderedPrompt == null) continue;
      const prompt = sentChatMessages(input.systemMessage, input.messages);
      if (prompt === null) continue;
      const line = {
        prompt,
        chosen: [{ role: 'assistant', content: chosen }],
        rejected: [{ role: 'assistant', content: rejected }],
        row: row + 1,
        repeat,
        chosenVariant,
        rejectedVariant: worse.cell.variant,
        source,
        ...(judge !== undefined && { judge }),
      };
      yield `${JSON.stringify(line)}\n`;
    }
    // Most rows may have no preference.
    yield '';
  }
}
