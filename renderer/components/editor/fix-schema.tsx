import { Wrench } from 'lucide-react';
import { useState } from 'react';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { Button } from '../button.tsx';
import { TextDiff } from '../diff/text-diff.tsx';
import { Dialog } from '../dialog.tsx';
import type { SchemaLint } from './checked-schema.ts';

const schemaText = (schema: JsonSchema): string => JSON.stringify(schema, null, 2);

/** Shows what a fix to the form that all providers accept would change, before it does. Nothing if it would change nothing. */
export function FixSchemaButton({ lint, onFix }: { lint: SchemaLint; onFix: (schema: JsonSchema) => void }) {
  const [shown, setShown] = useState<{ schema: JsonSchema; fixed: JsonSchema } | null>(null);
  const { schema, fixed } = lint;
  const close = (): void => setShown(null);
  const apply = (): void => {
    close();
    if (shown) onFix(shown.fixed);
  };
  return (
    <>
      {fixed && (
        <Button size="small" icon={Wrench} onClick={() => setShown({ schema, fixed })}>
          Fix for all providers
        </Button>
      )}
      {shown && (
        <Dialog
          title="Fix for all providers"
          isOpen
          isWide
          onClose={close}
          footer={
            <>
              <Button onClick={close}>Cancel</Button>
              <Button variant="primary" onClick={apply}>
                Apply fix
              </Button>
            </>
          }
        >
          <TextDiff
            title="JSON schema"
            before={schemaText(shown.schema)}
            after={schemaText(shown.fixed)}
            names={['Now', 'Fixed']}
          />
        </Dialog>
      )}
    </>
  );
}
