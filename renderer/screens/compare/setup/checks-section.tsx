import { ChevronDown, Plus, Settings2, X } from 'lucide-react';
import { useState } from 'react';
import type { Check } from '../../../../shared/contract/checks.ts';
import { Button, IconButton } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Menu } from '../../../components/menu.tsx';
import { useSetup } from './setup-context.ts';
import { changedChecks, newCheck } from './check-drafts.ts';
import { CheckFields, CheckOptions, type CheckPartProps } from './check-fields.tsx';
import { checkKindNames, checkKinds } from './check-kinds.ts';
import type { CheckDraft } from '../../../stores/comparison-drafts.ts';

/** `all` and `any` inside each other. */
const maxDepth = 5;

function AddCheck({ label, depth, onAdd }: { label: string; depth: number; onAdd: (check: CheckDraft) => void }) {
  const { dataset } = useSetup();
  const add = (kind: Check['kind']) => (): void => onAdd(newCheck(kind, dataset?.columns ?? []));
  const kinds = checkKindNames.filter((kind) => depth < maxDepth || checkKinds[kind].group !== 'Combined');
  const groups = [...Map.groupBy(kinds, (kind) => checkKinds[kind].group).values()];
  return (
    <Menu
      align="end"
      groups={groups.map((group) =>
        group.map((kind) => ({
          label: kind === 'refusal' ? checkKinds.refusal.notLabel : checkKinds[kind].label,
          icon: checkKinds[kind].icon,
          onSelect: add(kind),
        })),
      )}
    >
      <Button size="small" icon={Plus}>
        {label}
        <Icon icon={ChevronDown} size="tiny" />
      </Button>
    </Menu>
  );
}

function CheckRow({ check, path, depth }: { check: CheckDraft; path: string; depth: number }) {
  const { change } = useSetup();
  const [areOptionsOpen, setOptionsOpen] = useState(false);
  const { label, notLabel, icon, note } = checkKinds[check.kind];
  const name = check.isNot ? notLabel : label;
  const update = (next: (before: CheckDraft) => CheckDraft | null): void =>
    change(({ checks }) => ({ checks: changedChecks(checks, check.id, next) }));
  const part: CheckPartProps = {
    check,
    path,
    onField: (field, text) => update((before) => ({ ...before, fields: { ...before.fields, [field]: text } })),
  };
  const isCombined = check.kind === 'all' || check.kind === 'any';
  return (
    <li aria-label={check.fields['name'] || name}>
      <div className="setup__check">
        <Icon icon={icon} size="small" />
        <span className="medium truncate">{check.fields['name'] || name}</span>
        <CheckFields {...part} />
        <span className="small tertiary truncate setup__check-note">{note}</span>
        <span className="setup__end">
          <IconButton
            icon={Settings2}
            size="small"
            label={`Options of ${name}`}
            aria-expanded={areOptionsOpen}
            onClick={() => setOptionsOpen(!areOptionsOpen)}
          />
          <IconButton icon={X} size="small" label={`Remove ${name}`} onClick={() => update(() => null)} />
        </span>
      </div>
      {areOptionsOpen && <CheckOptions {...part} onNot={(isNot) => update((before) => ({ ...before, isNot }))} />}
      {isCombined && (
        <div className="setup__inner">
          <CheckList checks={check.checks} path={`${path}.checks`} depth={depth + 1} />
          <AddCheck
            label={`Add to ${name.toLowerCase()}`}
            depth={depth + 1}
            onAdd={(added) => update((before) => ({ ...before, checks: [...before.checks, added] }))}
          />
        </div>
      )}
    </li>
  );
}

function CheckList({ checks, path, depth }: { checks: readonly CheckDraft[]; path: string; depth: number }) {
  return (
    <ol className="setup__checks">
      {checks.map((check, index) => (
        <CheckRow key={check.id} check={check} path={`${path}[${index}]`} depth={depth} />
      ))}
    </ol>
  );
}

/** What a good answer is. */
export function ChecksSection() {
  const { draft, change } = useSetup();
  return (
    <section className="line-top" aria-label="Checks">
      <div className="header">
        <h2>Checks</h2>
        <span className="caption tertiary truncate">
          {draft.checks.length === 0 ? 'none: answers are compared by hand' : 'a row passes if every check passes'}
        </span>
        <span className="grow" />
        <AddCheck
          label="Add check"
          depth={0}
          onAdd={(added) => change(({ checks }) => ({ checks: [...checks, added] }))}
        />
      </div>
      <CheckList checks={draft.checks} path="checks" depth={0} />
    </section>
  );
}
