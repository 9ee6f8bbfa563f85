import type { ReviewerStore, StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import type { TeamReviewer } from '../team/team-review-rows.ts';
import type { CallTeamReviews } from '../team/team-reviews.ts';

export interface ReviewerExchangeOptions {
  readonly reviewers: ReviewerStore;
  readonly team: { readonly reviews: CallTeamReviews };
}

export interface ReviewerExchange {
  /** Returns the reviewer as all hosts know it. */
  send(reviewer: StoredReviewer): Promise<StoredReviewer>;
  exchange(): Promise<void>;
}

/** A reviewer as this host and the team database had it when they were last compared, as JSON. `local` is empty for one that isn't here. */
interface ComparedReviewer {
  readonly local: string;
  readonly remote: string;
}

/** What was compared with the team database is stored, so that changes of days offline are known after a restart. */
function createComparedReviewers({ reviewers, team }: ReviewerExchangeOptions) {
  const known = new Map<string, ComparedReviewer>();
  let database: string | null = null;
  return {
    known,
    /** Another database knows nothing of what was compared with the one before. */
    async identify(): Promise<void> {
      const current = await team.reviews('team');
      if (current === database) return;
      database = current;
      known.clear();
      for (const { id, state } of reviewers.teamStates()) {
        const { team: of, local, remote } = JSON.parse(state) as ComparedReviewer & { team: string };
        if (of === current) known.set(id, { local, remote });
      }
    },
    remember(id: string, compared: ComparedReviewer): void {
      known.set(id, compared);
      reviewers.setTeamState(id, JSON.stringify({ team: database, ...compared }));
    },
  };
}

const describe = ({ id, name, pinHash, callerId }: StoredReviewer): TeamReviewer => ({
  id,
  name,
  pinHash,
  callerId,
  isRemoved: false,
});

/** Stores a reviewer as the team database has it. A field that was changed here since they were compared stays. */
function createAdoption(
  reviewers: ReviewerStore,
  { known, remember }: Pick<ReturnType<typeof createComparedReviewers>, 'known' | 'remember'>,
) {
  return (remote: TeamReviewer): void => {
    const text = JSON.stringify(remote);
    const { local = '', remote: before } = known.get(remote.id) ?? {};
    if (before === text) return;
    const here = reviewers.find(remote.id);
    // Deleted here meanwhile, which is sent after this.
    if (here === null && local !== '' && !remote.isRemoved) return;
    const compared = here === null || local === '' ? null : (JSON.parse(local) as TeamReviewer);
    const isRenamed = compared !== null && here!.name !== compared.name;
    const hasNewPin = compared !== null && here!.pinHash !== compared.pinHash;
    reviewers.adopt({
      ...remote,
      ...(isRenamed && { name: here!.name }),
      ...(hasNewPin && { pinHash: here!.pinHash }),
    });
    const now = reviewers.find(remote.id);
    const adopted = now && {
      ...describe(now),
      ...(isRenamed && { name: remote.name }),
      ...(hasNewPin && { pinHash: remote.pinHash }),
    };
    remember(remote.id, { local: adopted ? JSON.stringify(adopted) : '', remote: text });
  };
}

/** Exchanges the people who review. A field that was changed here since they were compared goes there; all others come from there. */
export function createReviewerExchange(options: ReviewerExchangeOptions): ReviewerExchange {
  const { reviewers, team } = options;
  const compared = createComparedReviewers(options);
  const { known, identify, remember } = compared;
  const adopt = createAdoption(reviewers, compared);

  async function send(reviewer: StoredReviewer): Promise<StoredReviewer> {
    const described = describe(reviewer);
    const text = JSON.stringify(described);
    if (known.get(reviewer.id)?.local === text) return reviewer;
    const stored = await team.reviews('writeReviewer', described);
    // What is changed here while this is sent differs from it.
    if (stored.id === reviewer.id) known.set(stored.id, { local: text, remote: '' });
    else known.delete(reviewer.id);
    adopt(stored);
    return reviewers.find(stored.id) ?? reviewer;
  }

  return {
    async send(reviewer: StoredReviewer): Promise<StoredReviewer> {
      await identify();
      return send(reviewer);
    },
    async exchange(): Promise<void> {
      await identify();
      for (const remote of await team.reviews('reviewers')) adopt(remote);
      const here = reviewers.everyone();
      for (const reviewer of here) if (reviewer.callerId === null || reviewer.apiKeyId !== null) await send(reviewer);
      for (const [id, { local }] of known) {
        if (local === '' || here.some((reviewer) => reviewer.id === id) || reviewers.find(id)) continue;
        const removed = { ...(JSON.parse(local) as TeamReviewer), isRemoved: true };
        remember(id, { local: '', remote: JSON.stringify(await team.reviews('writeReviewer', removed)) });
      }
    },
  };
}
