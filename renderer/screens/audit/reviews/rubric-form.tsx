import { ChevronDown, ChevronUp, Plus, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { maxCategories, maxRubricItems, type Rubric } from '../../../../shared/contract/rubrics.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useSaveRubric } from '../../../queries/rubrics.ts';
import { kindNames } from './answers.ts';
import { draftOf, draftProblem, emptyItem, type ItemDraft, type RubricDraft, toRubricInput } from './rubric-draft.ts';

const kinds = (['yesNo', 'category', 'score', 'text'] as const).map((value) => ({ value, label: kindNames[value] }));

type ChangeItem = (change: Partial<ItemDraft>) => void;

function Categories({ item, change }: { item: ItemDraft; change: ChangeItem }) {
  const { categories } = item;
  const set = (index: number, changed: Partial<(typeof categories)[number]>) =>
    change({ categories: categories.map((one, at) => (at === index ? { ...one, ...changed } : one)) });
  return (
    <div className="rubric-form__rows" role="group" aria-label="Categories">
      {categories.map(({ label, description }, index) => (
        <div key={index} className="rubric-form__row">
          <TextField
            label={`Category ${index + 1}`}
            isLabelHidden
            placeholder={`Category ${index + 1}`}
            maxLength={100}
            value={label}
            onValueChange={(text) => set(index, { label: text })}
          />
          <TextField
            label={`What category ${index + 1} means`}
            isLabelHidden
            placeholder="What it means (optional)"
            maxLength={4000}
            value={description}
            onValueChange={(text) => set(index, { description: text })}
          />
          <IconButton
            icon={Trash2}
            label={`Remove category ${index + 1}`}
            aria-disabled={categories.length <= 2}
            onClick={() => change({ categories: categories.toSpliced(index, 1) })}
          />
        </div>
      ))}
      {categories.length < maxCategories && (
        <Button
          size="small"
          variant="quiet"
          icon={Plus}
          onClick={() => change({ categories: [...categories, { label: '', description: '' }] })}
        >
          Add category
        </Button>
      )}
    </div>
  );
}

/** The right answer of an example, in the form that the item has. */
function ExampleAnswer({ item, value, onValue }: { item: ItemDraft; value: string; onValue: (value: string) => void }) {
  const choices = item.kind === 'yesNo' ? ['Yes', 'No'] : item.categories.map(({ label }) => label.trim());
  if (item.kind === 'yesNo' || item.kind === 'category')
    return (
      <Select
        label="Right answer"
        value={value}
        onValueChange={onValue}
        options={[
          { value: '', label: 'No answer' },
          ...choices.filter((one) => one !== '').map((one) => ({ value: one, label: one })),
        ]}
      />
    );
  return (
    <TextField
      label="Right answer"
      isLabelHidden
      placeholder={item.kind === 'score' ? 'Score, −10 to 10' : 'Right answer (optional)'}
      value={value}
      onValueChange={onValue}
    />
  );
}

function ExampleRows({ item, change }: { item: ItemDraft; change: ChangeItem }) {
  const { examples } = item;
  const set = (index: number, changed: Partial<(typeof examples)[number]>) =>
    change({ examples: examples.map((one, at) => (at === index ? { ...one, ...changed } : one)) });
  return (
    <div className="rubric-form__rows" role="group" aria-label="Examples">
      {examples.map(({ text, value }, index) => (
        <div key={index} className="rubric-form__row">
          <TextField
            label={`Example ${index + 1}`}
            isLabelHidden
            placeholder="Text of the example"
            maxLength={4000}
            value={text}
            onValueChange={(typed) => set(index, { text: typed })}
          />
          <ExampleAnswer item={item} value={value} onValue={(chosen) => set(index, { value: chosen })} />
          <IconButton
            icon={Trash2}
            label={`Remove example ${index + 1}`}
            onClick={() => change({ examples: examples.toSpliced(index, 1) })}
          />
        </div>
      ))}
      {examples.length < 20 && (
        <Button
          size="small"
          variant="quiet"
          icon={Plus}
          onClick={() => change({ examples: [...examples, { text: '', value: '' }] })}
        >
          Add example
        </Button>
      )}
    </div>
  );
}

function ItemChoices({ item, change }: { item: ItemDraft; change: ChangeItem }) {
  return (
    <>
      {item.kind === 'text' && (
        <Checkbox
          label="Corrected answer, for preference pairs and datasets"
          isChecked={item.isCorrection}
          onCheckedChange={(isCorrection) => change({ isCorrection })}
        />
      )}
      <Checkbox label="Required" isChecked={item.isRequired} onCheckedChange={(isRequired) => change({ isRequired })} />
    </>
  );
}

interface ItemFieldsProps {
  item: ItemDraft;
  number: number;
  count: number;
  change: ChangeItem;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function ItemFields({ item, number, count, change, onMove, onRemove }: ItemFieldsProps) {
  return (
    <fieldset className="rubric-form__item">
      <legend className="visually-hidden">Item {number}</legend>
      <div className="row">
        <span className="section-title">Item {number}</span>
        <span className="grow" />
        <IconButton
          icon={ChevronUp}
          label={`Move item ${number} up`}
          size="small"
          aria-disabled={number === 1}
          onClick={() => onMove(-1)}
        />
        <IconButton
          icon={ChevronDown}
          label={`Move item ${number} down`}
          size="small"
          aria-disabled={number === count}
          onClick={() => onMove(1)}
        />
        <IconButton
          icon={Trash2}
          label={`Remove item ${number}`}
          size="small"
          aria-disabled={count === 1}
          onClick={onRemove}
        />
      </div>
      <div className="rubric-form__question">
        <TextField
          label="Question"
          placeholder="Does every promise match the terms?"
          maxLength={500}
          value={item.question}
          onValueChange={(question) => change({ question })}
        />
        <Select
          label="Answer"
          isLabelHidden={false}
          value={item.kind}
          // Answers in earlier versions keep their kind.
          isDisabled={item.id !== null}
          onValueChange={(kind) => change({ kind, examples: [] })}
          options={kinds}
        />
      </div>
      <TextField
        label="Hint for reviewers"
        placeholder="If no passage supports it, answer No."
        maxLength={4000}
        value={item.description}
        onValueChange={(description) => change({ description })}
      />
      {item.kind === 'category' && <Categories item={item} change={change} />}
      <ExampleRows item={item} change={change} />
      <ItemChoices item={item} change={change} />
    </fieldset>
  );
}

interface RubricFormProps {
  /** Null is a new one. */
  rubric: Rubric | null;
  onSaved: (rubric: Rubric) => void;
}

function SaveRow({ rubric, isBusy, isChanged }: { rubric: Rubric | null; isBusy: boolean; isChanged: boolean }) {
  return (
    <div className="row">
      <Button type="submit" variant="primary" isBusy={isBusy} aria-disabled={!isChanged}>
        {rubric ? `Save as version ${rubric.latestVersion + 1}` : 'Create rubric'}
      </Button>
      {rubric && <span className="caption tertiary">Queues keep the version that they were made with.</span>}
    </div>
  );
}

/** The items of a rubric. Saving an existing one adds a version. */
export function RubricForm({ rubric, onSaved }: RubricFormProps) {
  const [draft, setDraft] = useState<RubricDraft>(() => draftOf(rubric));
  const [isRequested, setRequested] = useState(false);
  const saving = useSaveRubric(rubric?.id ?? null);
  const { items } = draft;
  const problem = draftProblem(draft);
  const isChanged =
    rubric === null || JSON.stringify(toRubricInput(draft)) !== JSON.stringify(toRubricInput(draftOf(rubric)));
  const setItems = (next: readonly ItemDraft[]) => setDraft({ ...draft, items: next });

  function move(index: number, by: number) {
    const item = items[index]!;
    setItems(items.toSpliced(index, 1).toSpliced(index + by, 0, item));
  }
  function save(event: FormEvent) {
    event.preventDefault();
    setRequested(true);
    if (problem === null && isChanged && !saving.isPending) saving.mutate(toRubricInput(draft), { onSuccess: onSaved });
  }
  return (
    <form className="stacked-form rubric-form" aria-label={rubric ? 'Rubric' : 'New rubric'} onSubmit={save}>
      <TextField
        label="Name"
        maxLength={200}
        value={draft.name}
        disabled={rubric !== null}
        onValueChange={(name) => setDraft({ ...draft, name })}
      />
      <TextField
        label="Description"
        maxLength={4000}
        value={draft.description}
        onValueChange={(description) => setDraft({ ...draft, description })}
      />
      {items.map((item, index) => (
        <ItemFields
          key={item.key}
          item={item}
          number={index + 1}
          count={items.length}
          change={(change) => setItems(items.map((one) => (one.key === item.key ? { ...one, ...change } : one)))}
          onMove={(by) => move(index, by)}
          onRemove={() => setItems(items.toSpliced(index, 1))}
        />
      ))}
      {items.length < maxRubricItems && (
        <div className="row">
          <Button icon={Plus} onClick={() => setItems([...items, emptyItem()])}>
            Add item
          </Button>
        </div>
      )}
      {isRequested && problem !== null && <Notice tone="negative">{problem}</Notice>}
      {saving.error && <Notice tone="negative">{describeError(saving.error).message}</Notice>}
      <SaveRow rubric={rubric} isBusy={saving.isPending} isChanged={isChanged} />
    </form>
  );
}
