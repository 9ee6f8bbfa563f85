import { Button } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';

/** The only place where a key is ever shown. */
export function IssuedKey({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <div className="issued" role="status">
      <p className="strong">Copy the key now</p>
      <p className="small secondary">Touchstone stores only its hash and never shows the key again.</p>
      <div className="issued__key">
        <code className="mono">{apiKey}</code>
        <CopyButton label="Copy key" text={apiKey} size="small" />
        <Button size="small" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
