import { ArrowLeft, Plus } from 'lucide-react';
import { type FormEvent, useDeferredValue, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import type { Rubric } from '../../../../shared/contract/rubrics.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural, formatWhole } from '../../../components/format.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useCreateQueue, useQueuePreview } from '../../../queries/review-queues.ts';
import { useRubrics } from '../../../queries/rubrics.ts';
import { useAuditSource } from '../../../queries/team.ts';
import { readFilter } from '../../../shell/audit-address.ts';
import { reviewQueueAddress, reviewsAddress } from '../../../shell/addresses.ts';
import { useShowPageTitle } from '../../../stores/window.ts';
import {
  FilterText,
  type FieldsProps,
  NamedReviewers,
  PlanFields,
  ReviewerFields,
  type Searched,
  TeamField,
} from './new-queue-fields.tsx';
import { emptyQueue, planOf, type QueueDraft, toQueueInput } from './queue-draft.ts';
import { RubricForm } from './rubric-form.tsx';

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
function Preview({ draft, filter, source }: Searched & { draft: QueueDraft }) {
  const plan = useDeferredValue(planOf(draft));
  const { itemType } = draft;
  const preview = useQueuePreview(plan === null ? null : { filter, source, itemType, plan });
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
  const source = useAuditSource();
  const input = toQueueInput(draft, { filter, source });
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
        <form className="stacked-form" aria-label="New review queue" onSubmit={save}>
          <FilterText filter={filter} source={source} />
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
          <Preview draft={draft} filter={filter} source={source} />
          <RubricField draft={draft} change={change} />
          <ReviewerFields draft={draft} change={change} />
          <NamedReviewers draft={draft} change={change} />
          <TeamField draft={draft} change={change} source={source} />
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
