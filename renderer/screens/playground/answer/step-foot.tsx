import { Play } from 'lucide-react';
import { Button } from '../../../components/button.tsx';

/** Sends the results of a step. */
export function StepFoot({ isNewest, onContinue }: { isNewest: boolean; onContinue: () => void }) {
  return (
    <div className="calls__foot">
      <span className="caption tertiary grow">
        {isNewest
          ? 'Continue sends the results to the model.'
          : 'Continue sends these results and replaces the steps below. The history keeps both.'}
      </span>
      <Button size="small" icon={Play} keys="Mod+Enter" onClick={onContinue}>
        Continue
      </Button>
    </div>
  );
}
