import { Play } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../button.tsx';
import { Switch } from '../choices.tsx';
import { formatCost, formatPlural } from '../format.ts';
import { Popover } from '../popover.tsx';
import { Notice } from '../state-panels.tsx';
import { TextField } from '../text-field.tsx';
import type { StepFootProps } from './call-step.tsx';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import { useStepStops } from './automatic-results.ts';

/** A run can't have more steps. */
const maxSteps = 100;

function readSteps(text: string): number | null {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && value <= maxSteps ? value : null;
}

/** `null` for no limit, and undefined for a text that is no cost. */
function readCost(text: string): number | null | undefined {
  if (text === '') return null;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : undefined;
}

/** The limits of automatic continuing. A text that is no limit is not taken. */
function LimitFields() {
  const { maxToolSteps, maxToolCost } = usePlaygroundView.getState();
  const [steps, setSteps] = useState(String(maxToolSteps));
  const [cost, setCost] = useState(maxToolCost === null ? '' : String(maxToolCost));
  return (
    <>
      <TextField
        label="Max steps"
        size="small"
        inputMode="numeric"
        value={steps}
        error={readSteps(steps.trim()) === null ? `Must be a whole number from 1 to ${maxSteps}` : null}
        hint="Automatic steps in a row"
        onValueChange={(text) => {
          setSteps(text);
          const value = readSteps(text.trim());
          if (value !== null) usePlaygroundView.setState({ maxToolSteps: value });
        }}
      />
      <TextField
        label="Max cost (USD)"
        size="small"
        inputMode="decimal"
        placeholder="No limit"
        value={cost}
        error={readCost(cost.trim()) === undefined ? 'Must be more than 0' : null}
        hint="Of these steps together. Checked before each step"
        onValueChange={(text) => {
          setCost(text);
          const value = readCost(text.trim());
          if (value !== undefined) usePlaygroundView.setState({ maxToolCost: value });
        }}
      />
    </>
  );
}

function Limits() {
  const steps = usePlaygroundView(({ maxToolSteps }) => maxToolSteps);
  const cost = usePlaygroundView(({ maxToolCost }) => maxToolCost);
  const text = `${formatPlural(steps, 'step')}${cost === null ? '' : `, ${formatCost(cost)}`} at most`;
  return (
    <Popover
      label="Limits of automatic steps"
      align="end"
      className="calls__limits"
      trigger={
        <Button size="small" variant="quiet">
          {text}
        </Button>
      }
    >
      <LimitFields />
    </Popover>
  );
}

interface FootProps extends StepFootProps {
  /** Below the newest step; null for nothing. */
  note: string | null;
  /** Below a step that has been continued. */
  earlierNote: string;
}

/** Sends the results of a step, by hand or automatically. */
function StepFoot({ isNewest, runId, onContinue, note, earlierNote }: FootProps) {
  const isAutomatic = usePlaygroundView(({ continuesAutomatically }) => continuesAutomatically);
  const stopped = useStepStops(({ reasons }) => (runId === null ? undefined : reasons[runId]));
  return (
    <>
      {isNewest && stopped !== undefined && <Notice tone="caution">{stopped} Continue starts the next steps.</Notice>}
      {isNewest && note !== null && <p className="caption tertiary">{note}</p>}
      <div className="calls__foot">
        {isNewest ? (
          <>
            <Switch
              label="Continue automatically with mocks"
              isChecked={isAutomatic}
              onCheckedChange={(continuesAutomatically) => usePlaygroundView.setState({ continuesAutomatically })}
            />
            {isAutomatic && <Limits />}
            <span className="grow" />
          </>
        ) : (
          <span className="caption tertiary grow">{earlierNote}</span>
        )}
        <Button size="small" icon={Play} keys="Mod+Enter" onClick={onContinue}>
          Continue
        </Button>
      </div>
    </>
  );
}

/** Below the calls of a prompt's answer. */
export function PromptStepFoot(props: StepFootProps) {
  const earlierNote = 'Continue sends these results and replaces the steps below. The history keeps both.';
  return <StepFoot {...props} note={null} earlierNote={earlierNote} />;
}

/** Below the calls of an agent's turn. */
export function TurnStepFoot(props: StepFootProps) {
  return (
    <StepFoot
      {...props}
      note="Continue sends the results. If you send a message instead, the agent won't remember this turn."
      earlierNote="Continue sends these results in a branch. The original stays unchanged."
    />
  );
}
