import { ArrowLeft, Plus } from 'lucide-react';
import { type FormEvent, useDeferredValue, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { AuditFilter } from '../../../../shared/contract/audit.ts';
import { strataFields } from '../../../../shared/contract/review-queues.ts';
import type { Rubric } from '../../../../shared/contract/rubrics.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useAuditFacets } from '../../../queries/audit.ts';
import { useCreateQueue, useQueuePreview } from '../../../queries/review-queues.ts';
import { useReviewers } from '../../../queries/reviewers.ts';
import { useRubrics } from '../../../queries/rubrics.ts';
import { useTeam } from '../../../queries/team.ts';
import { readFilter } from '../../../shell/audit-address.ts';
import { reviewQueueAddress, reviewsAddress } from '../../../shell/addresses.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import { filterChips } from '../filter/filter-fields.ts';
import { emptyQueue, planKinds, planOf, type QueueDraft, queueErrors, toQueueInput } from './queue-draft.ts';
import { RubricForm } from './rubric-form.tsx';

const fieldNames: Readonly<Record<(typeof strataFields)[number], string>> = {
  model: 'Model',
  tag: 'Feedback tag',
  scoreBand: 'Score of the feedback',
  moderation: 'Moderation result',
};

interface FieldsProps {
  draft: QueueDraft;
  change: (change: Partial<QueueDraft>) => void;
}

function FilterText({ filter }: { filter: AuditFilter }) {
  const facets = useAuditFacets().data;
  const chips = filterChips(filter, facets, null).map(({ name, value }) => `${name} ${value}`);
  const parts = [...(filter.text ? [`Text ${filter.text}`] : []), ...chips];
  return (
    <p className="small secondary">
      {parts.length === 0 ? 'From all conversations of the audit.' : `From the audit's filter: ${parts.join(', ')}.`}
    </p>
  );
}

function PlanFields({ draft, change }: FieldsProps) {
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

function ReviewerFields({ draft, change }: FieldsProps) {
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
function NamedReviewers({ draft, change }: FieldsProps) {
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

function TeamField({ draft, change }: FieldsProps) {
  const hasTeam = (useTeam().data?.address ?? null) !== null;
  if (!hasTeam) return null;
  return (
    <div>
      <Checkbox
        label="Share with the team"
        isChecked={draft.isShared}
        onCheckedChange={(isShared) => change({ isShared })}
      />
      <p className="caption tertiary">
        People review it on all hosts of the team database, which gets the texts of the items.
      </p>
    </div>
  );
}

function RubricField({ draft, change }: FieldsProps) {
  const rubrics = useRubrics();
  const [isCreating, setCreating] = useState(false);
  const all = rubrics.data ?? [];
  return (
    <div className="row review__rubric">
      <Select
        label="Rubric"
        isLabelHidden={false}
        value={draft.rubricId}
        placeholder={all.length === 0 ? 'No rubric yet' : 'Choose a rubric'}
        isDisabled={all.length === 0}
        onValueChange={(rubricId) => change({ rubricId })}
        options={all.map(({ id, name, latestVersion }) => ({ value: id, label: `${name}, version ${latestVersion}` }))}
      />
      <Button icon={Plus} onClick={() => setCreating(true)}>
        New rubric
      </Button>
      {isCreating && (
        <Dialog title="New rubric" isOpen isWide onClose={() => setCreating(false)}>
          <RubricForm
            rubric={null}
            onSaved={({ id }: Rubric) => {
              setCreating(false);
              change({ rubricId: id });
            }}
          />
        </Dialog>
      )}
    </div>
  );
}

const maxShownGroups = 12;

/** What the plan would choose now. */
function Preview({ draft, filter }: { draft: QueueDraft; filter: AuditFilter }) {
  const plan = useDeferredValue(planOf(draft));
  const { itemType } = draft;
  const preview = useQueuePreview(plan === null ? null : { filter, itemType, plan });
  if (plan === null) return null;
  if (preview.error) return <Notice tone="negative">{describeError(preview.error).message}</Notice>;
  if (!preview.data) return <p className="small tertiary">Counting</p>;
  const { population, items, strata } = preview.data;
  const rest = strata.length - maxShownGroups;
  return (
    <div className="review__preview" aria-live="polite">
      <p>
        <span className="medium">{formatPlural(items, itemType)}</span> of {formatWhole(population)} that match.
      </p>
      {strata.length > 1 && (
        <ul className="small secondary">
          {strata.slice(0, maxShownGroups).map(({ name, items: chosen, population: all }) => (
            <li key={name}>
              {name}: {formatWhole(chosen)} of {formatWhole(all)}
            </li>
          ))}
          {rest > 0 && <li>{formatPlural(rest, 'more group')}</li>}
        </ul>
      )}
    </div>
  );
}

function obstacleTo(draft: QueueDraft): string {
  const isNamed = draft.name.trim() !== '';
  if (isNamed && draft.rubricId !== null) return 'Correct the marked fields.';
  return isNamed ? 'Needs a rubric.' : draft.rubricId === null ? 'Needs a name and a rubric.' : 'Needs a name.';
}

/** Makes a review queue of what matches the audit's filter. */
export function NewQueue({ filterText }: { filterText: string }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(emptyQueue);
  const filter = useMemo(() => readFilter(filterText).filter, [filterText]);
  const create = useCreateQueue();
  const change = (changed: Partial<QueueDraft>) => setDraft((before) => ({ ...before, ...changed }));
  const input = toQueueInput(draft, filter);
  useShowPageTitle('Reviews / New review queue');
  function save(event: FormEvent) {
    event.preventDefault();
    if (input && !create.isPending) create.mutate(input, { onSuccess: ({ id }) => navigate(reviewQueueAddress(id)) });
  }
  return (
    <>
      <div className="toolbar">
        <Button variant="quiet" icon={ArrowLeft} onClick={() => navigate(reviewsAddress)}>
          Review queues
        </Button>
        <h2 className="section-title">New review queue</h2>
      </div>
      <div className="scroll grow review__page">
        <form className="review__form" aria-label="New review queue" onSubmit={save}>
          <FilterText filter={filter} />
          <TextField
            label="Name"
            autoFocus
            placeholder="Refund promises, November"
            maxLength={200}
            value={draft.name}
            onValueChange={(name) => change({ name })}
          />
          <Select
            label="Items"
            isLabelHidden={false}
            value={draft.itemType}
            onValueChange={(itemType) => change({ itemType })}
            options={[
              { value: 'conversation', label: 'Whole conversations' },
              { value: 'run', label: 'Single runs' },
            ]}
          />
          <PlanFields draft={draft} change={change} />
          <Preview draft={draft} filter={filter} />
          <RubricField draft={draft} change={change} />
          <ReviewerFields draft={draft} change={change} />
          <NamedReviewers draft={draft} change={change} />
          <TeamField draft={draft} change={change} />
          {create.error && <Notice tone="negative">{describeError(create.error).message}</Notice>}
          <div className="row">
            <Button type="submit" variant="primary" isBusy={create.isPending} aria-disabled={input === null}>
              Create review queue
            </Button>
            {input === null && <span className="caption tertiary">{obstacleTo(draft)}</span>}
          </div>
        </form>
      </div>
    </>
  );
}
