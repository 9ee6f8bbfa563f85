import { moderationPresets, type ModerationPreset } from '../../../shared/contract/moderation.ts';
import { Segmented } from '../../components/choices.tsx';

const names: Record<ModerationPreset, string> = { strict: 'Strict', balanced: 'Balanced', lenient: 'Lenient' };

const hints: Record<ModerationPreset, string> = {
  strict: 'Misses the least, with the most false alarms',
  balanced: 'Best balance of precision and recall',
  lenient: 'Fewest false alarms, misses the most',
};

export interface PresetChoiceProps {
  /** Null where a person chose other thresholds. */
  preset: ModerationPreset | null;
  onPreset: (preset: ModerationPreset) => void;
  isMeasured: boolean;
}

/** Three sets of thresholds, or the person's own. */
export function PresetChoice({ preset, onPreset, isMeasured }: PresetChoiceProps) {
  const hint = isMeasured ? preset && hints[preset] : 'Same for each category; not measured for this classifier';
  return (
    <div className="levels__presets">
      <Segmented
        label="Preset"
        value={preset ?? ('custom' as ModerationPreset)}
        onValueChange={onPreset}
        options={moderationPresets.map((value) => ({ value, label: names[value] }))}
      />
      <span className="caption tertiary">{preset === null ? 'Custom thresholds' : hint}</span>
    </div>
  );
}
