import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import { builtInPolicy, policyCharacters, type ModerationClassifier } from '../../../shared/contract/moderation.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { IconButton } from '../../components/icon-button.tsx';

type ChatModel = Extract<ModerationClassifier, { kind: 'model' }>;

export interface PolicyButtonProps {
  /** `A` or `B`. */
  place: string;
  classifier: ChatModel;
  onValueChange: (classifier: ChatModel) => void;
}

/** The policy of a chat model, to read and edit. */
export function PolicyButton({ place, classifier, onValueChange }: PolicyButtonProps) {
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
        label={`Policy of classifier ${place}`}
        size="small"
        variant="default"
        onClick={() => setDraft(saved)}
      />
      <Dialog title={`Policy for ${classifier.model}`} isOpen={draft !== null} onClose={close} isWide footer={footer}>
        <label className="small secondary" htmlFor={`moderation-policy-${place}`}>
          The policy the model applies. It returns a score for sexual, hatred, harassment, selfHarm and violence, so
          define each of them.
        </label>
        <div className="field field--area">
          <textarea
            id={`moderation-policy-${place}`}
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
