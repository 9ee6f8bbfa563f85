import type { Model } from '../../../shared/contract/providers.ts';
import type { ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { Select, type SelectOption } from '../../components/select.tsx';
import { useModels } from '../../queries/models.ts';
import { classifierName } from './category-names.ts';

const onDevice: ModerationClassifier = { kind: 'on-device' };
const openAi = { kind: 'open-ai', model: 'omni-moderation-latest' } as const satisfies ModerationClassifier;

function chatOption({ aiSystem, name }: Model): SelectOption<string> {
  const classifier: ModerationClassifier = { kind: 'model', aiSystem, model: name, policy: null };
  return { value: JSON.stringify(classifier), label: name, group: `${aiSystem}, told the policy` };
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
  const chosen = value === null ? 'none' : JSON.stringify(value);
  const options: SelectOption<string>[] = [
    ...(isOptional ? [{ value: 'none', label: 'none' }] : []),
    { value: JSON.stringify(onDevice), label: 'on-device' },
    { value: JSON.stringify(openAi), label: openAi.model, group: 'OpenAi, needs its key' },
    ...models.filter(({ isReady, hasEnded }) => isReady && !hasEnded).map(chatOption),
  ];
  // One that is no longer in the lists, or has a policy of its own, stays what it is.
  const isListed = options.some((option) => option.value === chosen);
  const all = isListed || value === null ? options : [...options, { value: chosen, label: classifierName(value) }];
  return (
    <Select
      label={label}
      size="small"
      isMono
      value={chosen}
      options={all}
      onValueChange={(next) => onValueChange(next === 'none' ? null : (JSON.parse(next) as ModerationClassifier))}
    />
  );
}
