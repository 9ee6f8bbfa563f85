import type { CellVerdict } from '../../../shared/contract/comparison-results.ts';
import { type CellVote, windowVoter } from '../../../shared/contract/votes.ts';
import type { Check } from '../../../shared/contract/checks.ts';
import type { StoredCell } from '../../storage/comparison-cells.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { InnerJudge, StoredCellVote, VoteStore } from '../../storage/vote-store.ts';
import type { Judges, RunVerdict } from '../judge/create-judges.ts';

/** What judges and people say about a cell. */
interface Opinions {
  readonly verdicts: CellVerdict[];
  readonly votes: CellVote[];
}

export interface CellOpinionsOptions {
  readonly votes: Pick<VoteStore, 'cellVotes' | 'setCellVote' | 'disagreeingRows'>;
  readonly judges: Pick<Judges, 'verdictsOf' | 'readPreferences'>;
}

/** The ids of the judges among checks, also of those inside others. */
export function judgesAmong(checks: readonly Check[]): string[] {
  const ids = checks.flatMap((check) => {
    if ('checks' in check) return judgesAmong(check.checks);
    return check.kind === 'judge' ? [check.judgeId.toLowerCase()] : [];
  });
  return [...new Set(ids)];
}

function judgesIn(check: Check, isOuterInverted: boolean): InnerJudge[] {
  const isInverted = isOuterInverted !== (check.not === true);
  if ('checks' in check) return check.checks.flatMap((each) => judgesIn(each, isInverted));
  return check.kind === 'judge' ? [{ judgeId: check.judgeId.toLowerCase(), isInverted }] : [];
}

/** The judges that stand inside others of the checks. */
export function innerJudges(checks: readonly Check[]): InnerJudge[] {
  return checks.flatMap((check) => ('checks' in check ? judgesIn(check, false) : []));
}

/** Who voted. Others' names and notes are for who may read the run. */
export function describeVote(stored: StoredCellVote, { callerId }: FileReader, isReadable: boolean): CellVote {
  const isOwn = stored.voter === callerId;
  return {
    voter: isReadable || isOwn ? (stored.voterName ?? windowVoter) : null,
    isOwn,
    vote: stored.vote,
    note: isReadable || isOwn ? stored.note : null,
    updatedAt: new Date(stored.updatedAt).toISOString(),
  };
}

function describeVerdict(found: RunVerdict, cell: StoredCell, isReadable: boolean): CellVerdict {
  const { judgeId, judge, verdict, pass, isStale, counts, runId } = found;
  // The reason of `all` or `any` with several judges may be that of another one.
  const check = cell.checks.find(({ runIds }) => runIds?.length === 1 && runIds[0] === runId);
  return { judgeId, judge, verdict, pass, counts, isStale, reason: isReadable ? (check?.reason ?? null) : null, runId };
}

/** Reads what judges and people say about the cells of one comparison. Judges are read once. */
export function createCellOpinions({ votes, judges }: CellOpinionsOptions, checks: readonly Check[]) {
  const readVerdicts = judgesAmong(checks).map((id) => judges.verdictsOf(id));

  return {
    /** By position. */
    votesIn(comparison: number, range: { from: number; to: number }): Map<number, StoredCellVote[]> {
      return Map.groupBy(votes.cellVotes(comparison, range), ({ position }) => position);
    },
    of(
      cell: StoredCell,
      found: readonly StoredCellVote[],
      { reader, isReadable }: { readonly reader: FileReader; readonly isReadable: boolean },
    ): Opinions {
      const { runId } = cell;
      const verdicts = runId === null ? [] : readVerdicts.flatMap((read) => read(runId) ?? []);
      return {
        verdicts: verdicts.map((verdict) => describeVerdict(verdict, cell, isReadable)),
        votes: found.map((vote) => describeVote(vote, reader, isReadable)),
      };
    },
  };
}
