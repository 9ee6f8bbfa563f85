import { Check, CircleX, FileKey, X } from 'lucide-react';
import { type ClipboardEvent, type FormEvent, useRef, useState } from 'react';
import type { TeamInput, TeamState, TeamTest, TeamTestStep } from '../../../../shared/contract/team.ts';
import { Dot } from '../../../components/badges.tsx';
import { Button, IconButton } from '../../../components/button.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatDate, formatRunDuration, formatTime } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { Select } from '../../../components/select.tsx';
import { describeError, ErrorFailure, Notice } from '../../../components/state-panels.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useToday } from '../../../components/use-today.ts';
import { useChangeTeam, useTestTeam } from '../../../queries/team.ts';
import { Message } from '../connection-test.tsx';
import { fieldsOf, inputOf, isSocket, spread, type TeamFields } from './team-fields.ts';

interface FieldProps {
  state: TeamState;
  fields: TeamFields;
  onChange: (change: Partial<TeamFields>) => void;
}

const tlsOptions = [
  { value: 'check', label: 'Check certificate and name' },
  { value: 'off', label: 'No encryption, for a network you trust' },
] as const;

function passwordHint({ keychain }: TeamState): string {
  return keychain === null
    ? 'No keychain was found, so you enter it again after each start. To keep it, start a keychain service, or start Touchstone with --team and set PGPASSWORD.'
    : `Stored in the ${keychain}`;
}

function Password({ state, fields, onChange }: FieldProps) {
  if (fields.password === null)
    return (
      <div className="row">
        <span className="provider__state">
          <Dot tone="positive" />
          {state.keychain === null ? 'Set, until Touchstone quits' : `Set, in the ${state.keychain}`}
        </span>
        <Button size="small" variant="quiet" onClick={() => onChange({ password: '' })}>
          Replace
        </Button>
      </div>
    );
  return (
    <TextField
      label="Password"
      isLabelHidden
      size="small"
      type="password"
      autoComplete="new-password"
      hint={passwordHint(state)}
      value={fields.password}
      onValueChange={(password) => onChange({ password })}
    />
  );
}

function Expiry({ expiresAt }: { expiresAt: string }) {
  const isOver = new Date(expiresAt) < useToday();
  const date = formatDate(expiresAt.slice(0, 10), 'short');
  return (
    <span
      className={classNames('caption', isOver ? 'negative' : 'tertiary')}
    >{`${isOver ? 'expired' : 'until'} ${date}`}</span>
  );
}

/** The certificates of a company's own authority. */
function Authority({ state, fields, onChange, test }: FieldProps & { test: TeamTest | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  const { authority, authorities } = fields;
  // Beside a file of the address, which may just have been typed.
  const stored = authority === undefined && (state.authority?.isGiven || authorities !== null) ? state.authority : null;
  const name = authority?.name ?? stored?.name ?? authorities;
  const known = stored ?? (test?.authority?.name === name ? test?.authority : null);
  const choose = async (file: File | undefined) => {
    if (file) onChange({ authority: { name: file.name, certificates: await file.text() }, authorities: null });
  };
  return (
    <div className="row small team__authority">
      <input
        ref={input}
        type="file"
        hidden
        accept=".pem,.crt,.cer"
        aria-label="Certificate authority"
        onChange={(event) => {
          void choose(event.target.files?.[0]);
          // The same file may be chosen again after a change.
          event.target.value = '';
        }}
      />
      {name ? (
        <>
          <span className="mono--small truncate">{name}</span>
          {known && <Expiry expiresAt={known.expiresAt} />}
          <IconButton
            icon={X}
            size="small"
            label="Remove the certificate authority"
            onClick={() => onChange({ authority: null, authorities: null })}
          />
        </>
      ) : (
        <span className="tertiary">Well-known authorities</span>
      )}
      <Button size="small" variant="quiet" icon={FileKey} onClick={() => input.current?.click()}>
        Choose
      </Button>
    </div>
  );
}

function Encryption({ state, fields, onChange, test }: FieldProps & { test: TeamTest | undefined }) {
  return (
    <>
      <span className="small secondary">TLS</span>
      {isSocket(fields) ? (
        <span className="small tertiary">Not needed for a Unix socket</span>
      ) : (
        <Select
          label="TLS"
          size="small"
          value={fields.isEncrypted ? 'check' : 'off'}
          options={tlsOptions}
          onValueChange={(mode) => onChange({ isEncrypted: mode === 'check' })}
        />
      )}
      {fields.isEncrypted && !isSocket(fields) && (
        <>
          <span className="small secondary">Authority</span>
          <Authority {...{ state, fields, onChange, test }} />
        </>
      )}
    </>
  );
}

function Fields({
  state,
  fields,
  onChange,
  problem,
  test,
}: FieldProps & { problem: string | null; test: TeamTest | undefined }) {
  const paste = (event: ClipboardEvent<HTMLInputElement>) => {
    const filled = spread({ ...fields, address: event.clipboardData.getData('text') });
    if (filled.address === fields.address || filled.user === '') return;
    // Only a whole address fills other fields.
    if (!/^\s*postgres(?:ql)?:\/\//.test(event.clipboardData.getData('text'))) return;
    event.preventDefault();
    onChange(filled);
  };
  return (
    <div className="team__form">
      <span className="small secondary">Address</span>
      <TextField
        label="Address"
        isLabelHidden
        isMono
        size="small"
        placeholder="db.example:5432/touchstone"
        hint="You can paste a whole address, postgres://user:password@host:5432/database."
        error={problem}
        value={fields.address}
        onPaste={paste}
        onBlur={() => onChange(spread(fields))}
        onValueChange={(address) => onChange({ address })}
      />
      <span className="small secondary">User</span>
      <TextField
        label="User"
        isLabelHidden
        isMono
        size="small"
        value={fields.user}
        onValueChange={(user) => onChange({ user })}
      />
      <span className="small secondary">Password</span>
      <Password {...{ state, fields, onChange }} />
      <Encryption {...{ state, fields, onChange, test }} />
    </div>
  );
}

const stepTitles: Readonly<Record<TeamTestStep['name'], string>> = {
  dns: 'DNS',
  port: 'Port',
  tls: 'TLS',
  'sign-in': 'Sign in',
  tables: 'Tables',
};

const untested: readonly TeamTestStep[] = (['dns', 'port', 'tls', 'sign-in', 'tables'] as const).map((name) => ({
  name,
  outcome: 'not-reached',
  detail: '',
  milliseconds: null,
}));

function StepRow({ step: { name, outcome, detail, milliseconds } }: { step: TeamTestStep }) {
  const isFailed = outcome === 'failed';
  const time = outcome === 'passed' && milliseconds !== null ? formatRunDuration(milliseconds) : '';
  return (
    <li className={classNames(isFailed && 'is-failed', outcome !== 'passed' && !isFailed && 'is-off')}>
      {outcome === 'passed' || isFailed ? (
        <span className={isFailed ? 'negative' : 'positive'}>
          <Icon icon={isFailed ? CircleX : Check} size="tiny" />
        </span>
      ) : (
        <Dot tone="hollow" />
      )}
      <span>{stepTitles[name]}</span>
      <span className="team__step-detail">{[detail, time].filter((part) => part !== '').join(', ')}</span>
    </li>
  );
}

function TestSteps({ test, isTesting }: { test: TeamTest | undefined; isTesting: boolean }) {
  const title = isTesting ? 'Testing' : test ? `Tested ${formatTime(test.testedAt)}` : 'Not tested';
  return (
    <div className="team__steps" role="status">
      <p className="caption tertiary">{title}</p>
      <ol aria-label="Connection test">
        {(isTesting || !test ? untested : test.steps).map((step) => (
          <StepRow key={step.name} step={step} />
        ))}
      </ol>
    </div>
  );
}

function TestResult({ test: { data, error }, isAway }: { test: ReturnType<typeof useTestTeam>; isAway: boolean }) {
  if (error) return <ErrorFailure title="Couldn't test the connection" error={error} />;
  if (!data) return null;
  const { failure, readOnlyReason } = data;
  if (failure !== null)
    return (
      <Notice tone="negative">
        <Message text={failure} />
      </Notice>
    );
  // It worked then; the row above says what is wrong since.
  if (isAway) return null;
  return (
    <Notice tone={readOnlyReason === null ? 'neutral' : 'caution'}>
      {readOnlyReason ?? 'The connection works, and this user can copy runs.'}
    </Notice>
  );
}

/** The fields of the connection. They are saved on request, because every run is copied from then on. */
export function ConnectionForm({ state }: { state: TeamState }) {
  const [fields, setFields] = useState(() => fieldsOf(state));
  const [problem, setProblem] = useState<string | null>(null);
  const test = useTestTeam();
  const change = useChangeTeam();
  const send = (give: (input: TeamInput) => void): void => {
    try {
      give(inputOf(fields));
      setProblem(null);
    } catch (failure) {
      setProblem(describeError(failure).message);
    }
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    // Another address makes a new form.
    const reset = (saved: TeamState) => saved.address === state.address && setFields(fieldsOf(saved));
    send((input) => change.mutate(input, { onSuccess: reset }));
  };
  const edit = (changed: Partial<TeamFields>) => {
    setFields((current) => ({ ...current, ...changed }));
    setProblem(null);
  };
  const isChanged = JSON.stringify(fields) !== JSON.stringify(fieldsOf(state));
  return (
    <form className="team__connection" aria-label="Connection" onSubmit={save}>
      <div className="team__connect">
        <Fields state={state} fields={fields} onChange={edit} problem={problem} test={test.data} />
        <TestSteps test={test.data} isTesting={test.isPending} />
      </div>
      {!test.isPending && <TestResult test={test} isAway={state.status === 'offline'} />}
      {change.error && change.variables !== null && <ErrorFailure title="Couldn't connect" error={change.error} />}
      <div className="team__actions">
        <Button isBusy={test.isPending} onClick={() => send((input) => test.mutate(input))}>
          Test
        </Button>
        {(state.address === null || isChanged) && (
          <Button type="submit" variant="primary" isBusy={change.isPending}>
            {state.address === null ? 'Connect' : 'Save'}
          </Button>
        )}
      </div>
    </form>
  );
}
