import type { GroundingPreview } from '../../../../shared/contract/grounding.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';

interface SentDialogProps {
  preview: GroundingPreview;
  onClose: () => void;
}

/** The conversation as the model gets it: rules, passages, prompt. */
export function SentDialog({ preview, onClose }: SentDialogProps) {
  const { messages, configuration } = preview;
  const text = messages.map(({ role, content }) => `${role}:\n${content}`).join('\n\n');
  const parameters = Object.entries(configuration);
  return (
    <Dialog
      title="Preview final prompt"
      isOpen
      isWide
      onClose={onClose}
      footer={<CopyButton text={text} label="Copy" />}
    >
      <div className="grounding__sent">
        {messages.map(({ role, content }, index) => (
          <section key={index} aria-label={role}>
            <h3 className="caption tertiary">{role}</h3>
            <pre className="mono scroll" tabIndex={0}>
              {content}
            </pre>
          </section>
        ))}
        {parameters.length > 0 && (
          <p className="small tertiary">
            Parameters: <span className="mono--small">{JSON.stringify(configuration)}</span>
          </p>
        )}
      </div>
    </Dialog>
  );
}
