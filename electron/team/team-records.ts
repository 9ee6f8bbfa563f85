import { AppError } from '../../shared/app-error.ts';
import type { AuditFilter } from '../../shared/contract/audit.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { type ContinuableRun, type ContinuableRow, continuableRunOf } from '../storage/continuable-run.ts';
import type { ExportRow } from '../storage/export-rows.ts';
import { runDetailOf } from '../storage/run-details.ts';
import type { Conversation, ConversationRun } from '../../shared/contract/conversations.ts';
import type { Sample, SampledFields, SampleSize } from '../reviews/choose-items.ts';
import type { SelectedRuns, SnapshotRequest } from './team-runs.ts';

/** Whole runs of the team database. The methods throw `conflict` without a connection. */
export interface TeamRecords {
  /** Whether a team database is set. */
  isOn(): boolean;
  selectRuns(filter: AuditFilter, max: number, options: { readonly signal: AbortSignal }): Promise<SelectedRuns>;
  /** In any order, without unknown ones. At most 100, whose texts are in memory. */
  readRuns(ids: readonly string[]): Promise<ExportRow[]>;
  /** The first of the conversations that doesn't exist; -1 if all do. */
  findMissing(conversations: readonly string[]): Promise<number>;
  /** Null for an unknown ID. `callerId` leaves out the runs of others. Throws `conflict` for more texts than fit into memory, too. */
  readConversation(
    id: string,
    options: { hasFeedback: boolean; callerId?: string; signal?: AbortSignal },
  ): Promise<(Conversation & { readonly runs: ConversationRun[] }) | null>;
  /** How many conversations or runs the plan of a review queue would choose. */
  countSample(fields: SampledFields, options: { readonly signal: AbortSignal }): Promise<SampleSize>;
  /** Chooses the items of a review queue. Throws as that of this device. */
  drawSample(fields: SampledFields, seed: number, options: { readonly signal: AbortSignal }): Promise<Sample>;
  /** Writes conversations to a file for `openRunSnapshot`. Resolves with their numbers in the format of `Selection`. */
  writeSnapshot(request: SnapshotRequest, options: { readonly signal: AbortSignal }): Promise<Int32Array>;
}

type DetailRow = Parameters<typeof runDetailOf>[0];

/** Throws `conflict` without a team database. */
export function requireTeam({ team }: { readonly team?: TeamRecords | undefined }): TeamRecords {
  if (team?.isOn()) return team;
  throw new AppError('conflict', 'No team database is connected. Connect one in Settings.');
}

/** A row of another host as a run. */
export const teamRunDetail = (row: ExportRow): RunDetail => runDetailOf(row as unknown as DetailRow);

export async function readTeamRuns(ids: readonly string[], team: Pick<TeamRecords, 'readRuns'>): Promise<RunDetail[]> {
  return (await team.readRuns(ids)).map(teamRunDetail);
}

/** A run of another host as a tool's results continue it; null for an unknown ID. */
export async function readTeamRunToContinue(id: string, team: TeamRecords): Promise<ContinuableRun | null> {
  const [row] = await team.readRuns([id]);
  return row === undefined ? null : continuableRunOf(row as unknown as ContinuableRow);
}

/** A run of this device, or of another host of the team; null for an unknown ID. */
export async function readAnywhere(
  id: string,
  local: { read(id: string): RunDetail | null },
  team: TeamRecords | undefined,
): Promise<RunDetail | null> {
  const found = local.read(id);
  if (found !== null || !team?.isOn()) return found;
  return (await readTeamRuns([id], team))[0] ?? null;
}
