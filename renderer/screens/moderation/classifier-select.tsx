import type { Model } from '../../../shared/contract/providers.ts';
import { mistralEndpoint, type ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { Select, type SelectOption } from '../../components/select.tsx';
import { useModels } from '../../queries/models.ts';

const onDevice: ModerationClassifier = { kind: 'on-device' };
const openAi = { kind: 'open-ai', model: 'omni-moderation-latest' } as const satisfies ModerationClassifier;
const mistral = { kind: 'mistral', model: 'mistral-moderation-latest' } as const satisfies ModerationClassifier;

/** A choice without the policy, which stays as it is when another model is chosen. */
function keyOf(classifier: ModerationClassifier): string {
  return JSON.stringify(classifier.kind === 'model' ? { ...classifier, policy: null } : classifier);
}

const modelName = (classifier: ModerationClassifier) =>
  classifier.kind === 'on-device' ? classifier.kind : classifier.model;

/** Classifiers of providers are in their lists as well, and do not chat. */
const isChatModel = ({ isReady, hasEnded, name }: Model) => isReady && !hasEnded && !/moderation/i.test(name);

function chatOption({ aiSystem, name }: Model): SelectOption<string> {
  const value = keyOf({ kind: 'model', aiSystem, model: name, policy: null });
  return { value, label: name, group: `${aiSystem}, told the policy` };
}

export interface ClassifierSelectProps {
  label: string;
  value: ModerationClassifier | null;
  /** Whether there may be none. */
  isOptional?: boolean;
  onValueChange: (classifier: ModerationClassifier | null) => void;
}

/** Who judges: the device, a provider's own classifier, or a chat model that is told the policy. */
export function ClassifierSelect({ label, value, isOptional = false, onValueChange }: ClassifierSelectProps) {
  const models = useModels().data?.data ?? [];
  const chosen = value === null ? 'none' : keyOf(value);
  const options: SelectOption<string>[] = [
    ...(isOptional ? [{ value: 'none', label: 'none' }] : []),
    { value: keyOf(onDevice), label: 'on-device' },
    { value: keyOf(openAi), label: openAi.model, group: 'OpenAi, needs its key' },
    { value: keyOf(mistral), label: mistral.model, group: `Mistral, needs the endpoint ${mistralEndpoint}` },
    ...models.filter(isChatModel).map(chatOption),
  ];
  // One that is no longer in the lists stays what it is; which policy it has is told elsewhere.
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
