import type { AuditFilter, AuditSource } from '../../../../shared/contract/audit.ts';
import { strataFields } from '../../../../shared/contract/review-queues.ts';
import { Checkbox } from '../../../components/choices.tsx';
import { Select } from '../../../components/select.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useAuditFacets } from '../../../queries/audit.ts';
import { useReviewers } from '../../../queries/reviewers.ts';
import { useTeam } from '../../../queries/team.ts';
import { filterChips } from '../../../components/run-filter/filter-fields.ts';
import { planKinds, type QueueDraft, queueErrors } from './queue-draft.ts';

const fieldNames: Readonly<Record<(typeof strataFields)[number], string>> = {
  model: 'Model',
  tag: 'Feedback tag',
  scoreBand: 'Score of the feedback',
  moderation: 'Moderation result',
};

export interface FieldsProps {
  draft: QueueDraft;
  change: (change: Partial<QueueDraft>) => void;
}

export interface Searched {
  filter: AuditFilter;
  source: AuditSource;
}

export function FilterText({ filter, source }: Searched) {
  const facets = useAuditFacets().data;
  const chips = filterChips(filter, facets, null).map(({ name, value }) => `${name} ${value}`);
  const parts = [...(filter.text ? [`Text ${filter.text}`] : []), ...chips];
  return (
    <p className="small secondary">
      {source === 'team' ? 'From the runs of all hosts of the team' : "From this device's runs"}
      {parts.length === 0 ? '.' : `, with the audit's filter: ${parts.join(', ')}.`}
    </p>
  );
}

export function PlanFields({ draft, change }: FieldsProps) {
  const { kind, unit } = draft;
  const errors = queueErrors(draft);
  const hasUnit = kind === 'random' || kind === 'stratified';
  return (
    <div className="review__fields">
      <Select
        label="Plan"
        isLabelHidden={false}
        value={kind}
        onValueChange={(next) => change({ kind: next, amount: next === 'newest' ? '10' : '20' })}
        options={planKinds}
      />
      {kind === 'stratified' && (
        <Select
          label="Group by"
          isLabelHidden={false}
          value={draft.by}
          onValueChange={(by) => change({ by })}
          options={strataFields.map((value) => ({ value, label: fieldNames[value] }))}
        />
      )}
      {hasUnit && (
        <Select
          label="Size as"
          isLabelHidden={false}
          value={unit}
          onValueChange={(next) => change({ unit: next })}
          options={[
            { value: 'percent', label: 'Share' },
            { value: 'count', label: 'Number' },
          ]}
        />
      )}
      {kind !== 'all' && (
        <TextField
          label={kind === 'newest' ? 'Per day' : kind === 'flagged' ? 'Share of the rest' : 'Size'}
          inputMode="decimal"
          value={draft.amount}
          onValueChange={(amount) => change({ amount })}
          error={errors.amount}
          {...(kind === 'newest' && { hint: 'Each day that ends adds its newest, until you stop it in the queue.' })}
          end={(kind === 'flagged' || (hasUnit && unit === 'percent')) && <span className="tertiary">%</span>}
        />
      )}
      {kind !== 'all' && kind !== 'newest' && (
        <TextField
          label="Seed"
          inputMode="numeric"
          placeholder="Random"
          value={draft.seed}
          onValueChange={(seed) => change({ seed })}
          error={errors.seed}
          hint="The same seed chooses the same items."
        />
      )}
    </div>
  );
}

export function ReviewerFields({ draft, change }: FieldsProps) {
  const errors = queueErrors(draft);
  return (
    <div className="review__fields">
      <TextField
        label="Reviewers per item"
        inputMode="numeric"
        value={draft.reviewersPerItem}
        onValueChange={(reviewersPerItem) => change({ reviewersPerItem })}
        error={errors.reviewersPerItem}
      />
      <TextField
        label="One more reviewer for"
        inputMode="decimal"
        value={draft.second}
        onValueChange={(second) => change({ second })}
        error={errors.second}
        end={<span className="tertiary">%</span>}
        hint="Of the items, at random."
      />
      <TextField
        label="Reservation"
        inputMode="numeric"
        value={draft.minutes}
        onValueChange={(minutes) => change({ minutes })}
        error={errors.minutes}
        end={<span className="tertiary">min</span>}
        hint="Then others can have the item."
      />
    </div>
  );
}

const maxNamed = 20;

/** Nobody chosen means that anyone may review. */
export function NamedReviewers({ draft, change }: FieldsProps) {
  const reviewers = useReviewers().data ?? [];
  const { reviewerIds } = draft;
  if (reviewers.length === 0) return null;
  return (
    <fieldset className="review__named">
      <legend>Who reviews</legend>
      {reviewers.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          isChecked={reviewerIds.includes(id)}
          isDisabled={reviewerIds.length >= maxNamed && !reviewerIds.includes(id)}
          onCheckedChange={(isChosen) =>
            change({ reviewerIds: isChosen ? [...reviewerIds, id] : reviewerIds.filter((other) => other !== id) })
          }
        />
      ))}
      <p className="caption tertiary">
        {reviewerIds.length === 0 ? 'Anyone may review.' : 'Only the chosen reviewers.'}
      </p>
    </fieldset>
  );
}

export function TeamField({ draft, change, source }: FieldsProps & Pick<Searched, 'source'>) {
  const hasTeam = (useTeam().data?.address ?? null) !== null;
  if (!hasTeam) return null;
  return (
    <div>
      <Checkbox
        label="Share with the team"
        isChecked={draft.isShared || source === 'team'}
        isDisabled={source === 'team'}
        onCheckedChange={(isShared) => change({ isShared })}
      />
      <p className="caption tertiary">
        {source === 'team' && 'Queues of the team’s runs are always shared. '}
        People review it on all hosts of the team database, which gets the texts of the items.
      </p>
    </div>
  );
}
