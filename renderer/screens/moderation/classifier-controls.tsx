import { ScrollText, Shield } from 'lucide-react';
import { useState } from 'react';
import type { Model } from '../../../shared/contract/providers.ts';
import {
  builtInPolicy,
  type GuardMode,
  guardModes,
  type GuardSettings,
  mistralEndpoint,
  type ModerationClassifier,
  policyCharacters,
} from '../../../shared/contract/moderation.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Select, type SelectOption } from '../../components/select.tsx';
import { useModels } from '../../queries/providers.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { GuardCosts } from '../../../shared/contract/moderation-window.ts';
import { Segmented } from '../../components/choices.tsx';
import { formatCount, formatPlural } from '../../components/format.ts';
import { Popover } from '../../components/popover.tsx';
import { QueryView } from '../../components/state-panels.tsx';
import { useGuardCosts } from '../../queries/moderation.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';

const onDevice: ModerationClassifier = { kind: 'on-device' };
const openAi = { kind: 'open-ai', model: 'omni-moderation-latest' } as const satisfies ModerationClassifier;
const mistral = { kind: 'mistral', model: 'mistral-moderation-latest' } as const satisfies ModerationClassifier;

/** A choice without the policy, which stays when another model is selected. */
function keyOf(classifier: ModerationClassifier): string {
  return JSON.stringify(classifier.kind === 'model' ? { ...classifier, policy: null } : classifier);
}

const modelName = (classifier: ModerationClassifier) =>
  classifier.kind === 'on-device' ? classifier.kind : classifier.model;

/** Providers also list their classifiers, which don't chat. */
const isChatModel = ({ isReady, hasEnded, name }: Model) => isReady && !hasEnded && !/moderation/i.test(name);

function chatOption({ aiSystem, name }: Model): SelectOption<string> {
  const value = keyOf({ kind: 'model', aiSystem, model: name, policy: null });
  return { value, label: name, group: `${providerName(aiSystem)} with policy` };
}

interface ClassifierSelectProps {
  label: string;
  value: ModerationClassifier | null;
  /** Whether "None" is an option. */
  isOptional?: boolean;
  onValueChange: (classifier: ModerationClassifier | null) => void;
}

/** The on-device classifier, a provider's own, or a chat model with a policy. */
export function ClassifierSelect({ label, value, isOptional = false, onValueChange }: ClassifierSelectProps) {
  const models = useModels().data?.data ?? [];
  const chosen = value === null ? 'none' : keyOf(value);
  const options: SelectOption<string>[] = [
    ...(isOptional ? [{ value: 'none', label: 'None' }] : []),
    { value: keyOf(onDevice), label: 'On-device' },
    { value: keyOf(openAi), label: openAi.model, group: 'OpenAI (needs an API key)' },
    { value: keyOf(mistral), label: mistral.model, group: `Mistral (needs the endpoint "${mistralEndpoint}")` },
    ...models.filter(isChatModel).map(chatOption),
  ];
  // A model that is no longer listed stays selected. Its policy is shown elsewhere.
  const isListed = options.some((option) => option.value === chosen);
  const all = isListed || value === null ? options : [...options, { value: chosen, label: modelName(value) }];
  const choose = (next: string) => {
    if (next === 'none') return onValueChange(null);
    const classifier = JSON.parse(next) as ModerationClassifier;
    const policy = value?.kind === 'model' ? value.policy : null;
    onValueChange(classifier.kind === 'model' ? { ...classifier, policy } : classifier);
  };
  return (
    <div className="moderation-classifier">
      <Select label={label} size="small" isMono value={chosen} options={all} onValueChange={choose} />
    </div>
  );
}

type ChatModel = Extract<ModerationClassifier, { kind: 'model' }>;

interface PolicyButtonProps {
  /** `A` or `B`. */
  letter: string;
  classifier: ChatModel;
  onValueChange: (classifier: ChatModel) => void;
}

/** The policy of a chat model, to read and edit. */
export function PolicyButton({ letter, classifier, onValueChange }: PolicyButtonProps) {
  /** Null while the dialog is closed. */
  const [draft, setDraft] = useState<string | null>(null);
  const saved = classifier.policy ?? builtInPolicy;
  const close = () => setDraft(null);
  const apply = () => {
    const policy = draft?.trim() === builtInPolicy ? null : (draft?.trim() ?? null);
    onValueChange({ ...classifier, policy });
    close();
  };
  const footer = (
    <>
      <Button variant="quiet" disabled={draft === builtInPolicy} onClick={() => setDraft(builtInPolicy)}>
        Restore built-in policy
      </Button>
      <span className="grow" />
      <Button onClick={close}>Cancel</Button>
      <Button variant="primary" disabled={!draft?.trim()} onClick={apply}>
        Save policy
      </Button>
    </>
  );
  return (
    <>
      <IconButton
        icon={ScrollText}
        label={`Policy of classifier ${letter}`}
        size="small"
        variant="default"
        onClick={() => setDraft(saved)}
      />
      <Dialog title={`Policy for ${classifier.model}`} isOpen={draft !== null} onClose={close} isWide footer={footer}>
        <label className="small secondary" htmlFor={`moderation-policy-${letter}`}>
          The policy the model applies. It returns a score for sexual, hatred, harassment, selfHarm and violence, so
          define each of them.
        </label>
        <div className="field field--area">
          <textarea
            id={`moderation-policy-${letter}`}
            rows={14}
            maxLength={policyCharacters}
            value={draft ?? ''}
            onChange={(event) => setDraft(event.target.value)}
          />
        </div>
      </Dialog>
    </>
  );
}

const modeNames: Record<GuardMode, string> = { off: 'Off', note: 'Log only', refuse: 'Block' };

const explanations: Record<'prompts' | 'answers', Record<GuardMode, string>> = {
  prompts: {
    off: 'Prompts are not checked.',
    note: 'Results are stored with the run, and the audit can filter by them. The run does not wait for the check.',
    refuse: 'A flagged prompt or system message is rejected with status 400 and its categories. No model receives it.',
  },
  answers: {
    off: 'Answers are not checked.',
    note: 'Results are stored with the run, and the audit can filter by them. The run ends when the check is done.',
    refuse:
      'A flagged answer is withheld with the finish reason ContentFilter. Streams are sent sentence by sentence and end before the first flagged one.',
  },
};

function CostLine({ cost }: { cost: GuardCosts['prompts'] }) {
  if (cost.p50 === null || cost.p95 === null) {
    return <p className="caption tertiary">No runs checked since Touchstone started</p>;
  }
  return (
    <p className="caption tertiary numbers">
      {formatPlural(cost.checked, 'run')} checked, {formatCount(cost.flagged)} flagged, {formatCount(cost.refused)}{' '}
      blocked. Time per run: {cost.p50.toFixed(1)} ms median, {cost.p95.toFixed(1)} ms p95
    </p>
  );
}

interface SideProps {
  side: 'prompts' | 'answers';
  guard: GuardSettings;
  cost: GuardCosts['prompts'] | undefined;
  onChange: (guard: GuardSettings) => void;
}

function Side({ side, guard, cost, onChange }: SideProps) {
  const name = side === 'prompts' ? 'Prompts' : 'Answers';
  return (
    <div className="guard__side" role="group" aria-label={name}>
      <div className="row">
        <span className="medium grow">{name}</span>
        <Segmented
          label={`Guard for ${side}`}
          value={guard[side]}
          onValueChange={(mode) => onChange({ ...guard, [side]: mode })}
          options={guardModes.map((mode) => ({ value: mode, label: modeNames[mode] }))}
        />
      </div>
      <p className="small secondary">{explanations[side][guard[side]]}</p>
      {cost && <CostLine cost={cost} />}
    </div>
  );
}

interface GuardPopoverProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}

/** The guard for the prompts and answers of every completion, and the time it takes. */
export function GuardPopover({ isOpen, onOpenChange }: GuardPopoverProps) {
  const settings = useSettings();
  const update = useUpdateSettings();
  const costs = useGuardCosts(isOpen).data;
  const guard = settings.data?.guard;
  const isOn = guard !== undefined && (guard.prompts !== 'off' || guard.answers !== 'off');
  return (
    <Popover
      label="Guard"
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      align="end"
      className="guard"
      trigger={
        <Button size="small" icon={Shield}>
          Guard {isOn ? 'on' : 'off'}
        </Button>
      }
    >
      <QueryView query={settings} subject="the settings">
        {(data) => (
          <>
            <p className="small secondary">
              Applies to every completion of this service, with the saved classifier and thresholds.
            </p>
            {(['prompts', 'answers'] as const).map((side) => (
              <Side
                key={side}
                side={side}
                guard={data.guard}
                cost={costs?.[side]}
                onChange={(next) => update.mutate({ guard: next })}
              />
            ))}
          </>
        )}
      </QueryView>
    </Popover>
  );
}
