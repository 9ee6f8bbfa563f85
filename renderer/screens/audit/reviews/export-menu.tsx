import { Download, FileText, Gavel, ListPlus, Table } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import type { ReviewExportFormat } from '../../../../shared/contract/review-exports.ts';
import type { RubricItem } from '../../../../shared/contract/rubrics.ts';
import type { ReviewQueue } from '../../../../shared/contract/review-queues.ts';
import { Button } from '../../../components/button.tsx';
import { Checkbox } from '../../../components/choices.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { formatPlural, readNumber } from '../../../components/format.ts';
import { Menu } from '../../../components/menu.tsx';
import { saveFile } from '../../../components/save-file.ts';
import { Select } from '../../../components/select.tsx';
import { describeError, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useJudges } from '../../../queries/judges.ts';
import { useExportReviews, useLabelJudge, useReviewDataset } from '../../../queries/review-exports.ts';
import { datasetAddress, judgeAddress } from '../../../shell/addresses.ts';
import { showToast } from '../../../stores/toasts.ts';
import { labelOptionsOf } from './answers.ts';

interface DialogProps {
  queue: ReviewQueue;
  onClose: () => void;
}

const isRating = ({ kind }: RubricItem) => kind !== 'text';

interface ExpectedSelectProps {
  items: readonly RubricItem[];
  value: string;
  onChange: (value: string) => void;
}

/** Which answers a dataset expects: `none`, `corrections`, or the ID of the item of the rubric that they pass. */
function ExpectedSelect({ items, value, onChange }: ExpectedSelectProps) {
  const hasCorrection = items.some(({ isCorrection }) => isCorrection);
  return (
    <Select
      label="Expected answers"
      isLabelHidden={false}
      value={value}
      onValueChange={onChange}
      options={[
        { value: 'none', label: 'None' },
        ...(hasCorrection ? [{ value: 'corrections', label: 'Corrections only' }] : []),
        ...items.filter(isRating).map(({ id, question }) => ({ value: id, label: `Answers that pass: ${question}` })),
      ]}
    />
  );
}

function DatasetDialog({ queue, onClose }: DialogProps) {
  const [, navigate] = useLocation();
  const { items } = queue.rubric;
  const [name, setName] = useState(`Reviewed: ${queue.name}`.slice(0, 200));
  const [expected, setExpected] = useState('none');
  const [ratings, setRatings] = useState(true);
  const create = useReviewDataset(queue.id);
  const rating = items.find(({ id }) => id === expected);
  const { pass, field } = usePass(rating);
  const isReady = name.trim() !== '' && pass !== null;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReady || create.isPending) return;
    const chosen = { ...(rating && { rubricItemId: rating.id }), ...pass };
    create.mutate(
      { name: name.trim(), ratings, ...(expected !== 'none' && { expected: chosen }) },
      {
        onSuccess: () => {
          onClose();
          showToast({
            tone: 'neutral',
            text: 'The dataset is created in the background.',
            action: { label: 'Show datasets', run: () => navigate(datasetAddress()) },
          });
        },
      },
    );
  }
  return (
    <Dialog title="Make a dataset" isOpen onClose={onClose}>
      <form className="stacked-form" onSubmit={submit}>
        <p className="small secondary">
          A row for each reviewed run: its variables, its answer and the feedback of the queue. A correction replaces
          the answer that is expected.
        </p>
        <TextField label="Name" maxLength={300} value={name} onValueChange={setName} />
        <Checkbox label="A column for each item of the rubric" isChecked={ratings} onCheckedChange={setRatings} />
        <ExpectedSelect items={items} value={expected} onChange={setExpected} />
        {field}
        {create.error && <Notice tone="negative">{describeError(create.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={create.isPending} aria-disabled={!isReady}>
            Make a dataset
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface JudgeSelectProps {
  value: string | null;
  onChange: (judgeId: string) => void;
}

function JudgeSelect({ value, onChange }: JudgeSelectProps) {
  const judges = useJudges();
  return (
    <Select
      label="Judge"
      isLabelHidden={false}
      value={value}
      placeholder={judges.data?.length === 0 ? 'No judge yet' : 'Choose a judge'}
      isDisabled={!judges.data?.length}
      onValueChange={onChange}
      options={(judges.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}

/** The lowest score that passes; null for a text that is none. */
function readPassFrom(text: string): number | null {
  const from = readNumber(text);
  return typeof from === 'number' && Number.isInteger(from) && from >= -9 && from <= 10 ? from : null;
}

function PassFrom({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  return (
    <TextField
      label="Passes from"
      inputMode="numeric"
      value={value}
      onValueChange={onChange}
      error={readPassFrom(value) === null ? 'Enter a whole number from -9 to 10' : null}
    />
  );
}

/** Which answers to an item of the rubric pass: the field, and the choice, which is null until it is clear. */
function usePass(item: RubricItem | undefined) {
  const [passFrom, setPassFrom] = useState('1');
  const [chosen, setChosen] = useState<{ itemId: string; value: string } | null>(null);
  if (!item) return { field: null, pass: {} };
  if (item.kind === 'score') {
    const from = readPassFrom(passFrom);
    return {
      field: <PassFrom value={passFrom} onChange={setPassFrom} />,
      pass: from === null ? null : { passFrom: from },
    };
  }
  const usual = item.kind === 'yesNo' ? 'yes' : null;
  const value = chosen?.itemId === item.id ? chosen.value : usual;
  const field = (
    <Select
      label="Pass means"
      isLabelHidden={false}
      value={value}
      placeholder="Choose an answer"
      onValueChange={(next) => setChosen({ itemId: item.id, value: next })}
      options={labelOptionsOf(item)}
    />
  );
  return { field, pass: value === null ? null : { passValue: value } };
}

function describeLabelled({ added, skipped }: { added: number; skipped: number }): string {
  const rest = skipped === 0 ? '' : ` Skipped ${formatPlural(skipped, 'item')}.`;
  return `Labelled ${formatPlural(added, 'answer')}.${rest}`;
}

/** Gives the final values of an item of the rubric to a judge as labels. */
function JudgeDialog({ queue, onClose }: DialogProps) {
  const [, navigate] = useLocation();
  const label = useLabelJudge(queue.id);
  const items = queue.rubric.items.filter(isRating);
  const [judgeId, setJudgeId] = useState<string | null>(null);
  const [itemId, setItemId] = useState<string | null>(items[0]?.id ?? null);
  const { pass, field } = usePass(items.find(({ id }) => id === itemId));
  const isReady = judgeId !== null && itemId !== null && pass !== null;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isReady || label.isPending) return;
    label.mutate(
      { judgeId, rubricItemId: itemId, ...pass },
      {
        onSuccess: (counts) => {
          onClose();
          showToast({
            tone: 'neutral',
            text: describeLabelled(counts),
            action: { label: 'Show judge', run: () => navigate(judgeAddress(judgeId)) },
          });
        },
      },
    );
  }
  return (
    <Dialog title="Label answers for a judge" isOpen onClose={onClose}>
      <form className="stacked-form" onSubmit={submit}>
        <p className="small secondary">
          The final values become labels, which the judge is calibrated with. Its earlier labels stay.
        </p>
        <JudgeSelect value={judgeId} onChange={setJudgeId} />
        <Select
          label="Rubric item"
          isLabelHidden={false}
          value={itemId}
          placeholder="No item that can be measured"
          isDisabled={items.length === 0}
          onValueChange={setItemId}
          options={items.map(({ id, question }) => ({ value: id, label: question }))}
        />
        {field}
        {label.error && <Notice tone="negative">{describeError(label.error).message}</Notice>}
        <div className="row">
          <Button type="submit" variant="primary" isBusy={label.isPending} aria-disabled={!isReady}>
            Label answers
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const endings: Readonly<Record<ReviewExportFormat, string>> = {
  csv: 'reviews.csv',
  preferences: 'preferences.jsonl',
  evidence: 'evidence.html',
};

/** A name that every file system takes. */
function fileName(queue: ReviewQueue, format: ReviewExportFormat): string {
  const name = queue.name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80);
  return `${name}-${endings[format]}`;
}

/** What leaves a queue: files, a dataset and labels. */
export function ExportMenu({ queue }: { queue: ReviewQueue }) {
  const [opened, setOpened] = useState<'dataset' | 'judge' | null>(null);
  const download = useExportReviews(queue.id);
  const save = (format: ReviewExportFormat) =>
    download.mutate(format, {
      onSuccess: async (file) => saveFile(fileName(queue, format), new Uint8Array(await file.arrayBuffer())),
    });
  const close = () => setOpened(null);
  return (
    <>
      <Menu
        align="end"
        groups={[
          [
            { label: 'CSV, a column per reviewer', icon: Table, onSelect: () => save('csv') },
            { label: 'Preference pairs, JSONL', icon: FileText, onSelect: () => save('preferences') },
            { label: 'Evidence, HTML', icon: FileText, onSelect: () => save('evidence') },
          ],
          [
            { label: 'Make a dataset', icon: ListPlus, onSelect: () => setOpened('dataset') },
            { label: 'Label answers for a judge', icon: Gavel, onSelect: () => setOpened('judge') },
          ],
        ]}
      >
        <Button icon={Download} isBusy={download.isPending}>
          Export
        </Button>
      </Menu>
      {opened === 'dataset' && <DatasetDialog queue={queue} onClose={close} />}
      {opened === 'judge' && <JudgeDialog queue={queue} onClose={close} />}
    </>
  );
}
