import type { Model } from '../../../shared/contract/providers.ts';
import { mistralEndpoint, type ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { providerName } from '../../../shared/provider-names.ts';
import { Select, type SelectOption } from '../../components/select.tsx';
import { useModels } from '../../queries/models.ts';

const onDevice: ModerationClassifier = { kind: 'on-device' };
const openAi = { kind: 'open-ai', model: 'omni-moderation-latest' } as const satisfies ModerationClassifier;
const mistral = { kind: 'mistral', model: 'mistral-moderation-latest' } as const satisfies ModerationClassifier;

/** A choice without the policy, which stays when another model is chosen. */
function keyOf(classifier: ModerationClassifier): string {
  return JSON.stringify(classifier.kind === 'model' ? { ...classifier, policy: null } : classifier);
}

const modelName = (classifier: ModerationClassifier) =>
  classifier.kind === 'on-device' ? classifier.kind : classifier.model;

/** Providers list their classifiers too, which don't chat. */
const isChatModel = ({ isReady, hasEnded, name }: Model) => isReady && !hasEnded && !/moderation/i.test(name);

function chatOption({ aiSystem, name }: Model): SelectOption<string> {
  const value = keyOf({ kind: 'model', aiSystem, model: name, policy: null });
  return { value, label: name, group: `${providerName(aiSystem)} with policy` };
}

export interface ClassifierSelectProps {
  label: string;
  value: ModerationClassifier | null;
  /** Whether there may be none. */
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
