import { Shield } from 'lucide-react';
import { guardModes, type GuardMode, type GuardSettings } from '../../../shared/contract/guard.ts';
import type { GuardCosts } from '../../../shared/contract/moderation-window.ts';
import { Button } from '../../components/button.tsx';
import { Segmented } from '../../components/choices.tsx';
import { formatCount, formatPlural } from '../../components/format.ts';
import { Popover } from '../../components/popover.tsx';
import { QueryView } from '../../components/query-view.tsx';
import { useGuardCosts } from '../../queries/moderation.ts';
import { useSettings, useUpdateSettings } from '../../queries/settings.ts';

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

export interface GuardPopoverProps {
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
