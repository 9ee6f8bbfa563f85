import { Check, CircleX, Minus } from 'lucide-react';
import { useState } from 'react';
import {
  capabilityNames,
  type CapabilityResult,
  type CapabilityTest as Test,
} from '../../../shared/contract/capability-tests.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import { Progress, StateBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { formatCost, formatPlural, formatTime } from '../../components/format.ts';
import { runsOnDevice } from '../../components/models/model-list.ts';
import { Select } from '../../components/select.tsx';
import { describeError, Notice } from '../../components/state-panels.tsx';
import {
  useCapabilityEstimate,
  useCapabilityTests,
  useStartCapabilityTest,
  useStopCapabilityTest,
} from '../../queries/capability-tests.ts';
import { useModels } from '../../queries/providers.ts';

/** A provider, one compatible endpoint, or this device. */
export interface CapabilityOwner {
  aiSystem: AiSystem;
  /** The name on screens. */
  name: string;
  /** Of a compatible endpoint. */
  endpoint?: string;
  /** The file of an on-device model, which answers for the built-in models that are routed to it. */
  fileName?: string;
}

type Target = Pick<Test, 'aiSystem' | 'model'>;

function isOf({ aiSystem, endpoint }: CapabilityOwner, target: Target): boolean {
  if (target.aiSystem !== aiSystem) return false;
  return endpoint === undefined || target.model.toLowerCase().startsWith(`${endpoint.toLowerCase()}/`);
}

/** The model that shows most of what its provider can do; among equals the cheapest. */
function defaultModel(models: readonly Model[]): string | null {
  const [best] = models.toSorted(
    (one, other) =>
      other.capabilities.length - one.capabilities.length ||
      (one.outputPrice ?? Infinity) - (other.outputPrice ?? Infinity) ||
      0,
  );
  return best?.name ?? null;
}

const outcomes = {
  yes: { tone: 'positive', icon: Check, word: 'Yes' },
  no: { tone: 'negative', icon: CircleX, word: 'No' },
  'not-offered': { tone: 'neutral', icon: Minus, word: 'Not offered' },
} as const;

function ResultRow({ result: { capability, outcome, reason } }: { result: CapabilityResult }) {
  const { word, ...badge } = outcomes[outcome];
  return (
    <tr>
      <th scope="row">{capabilityNames[capability]}</th>
      <td>
        <StateBadge {...badge}>{word}</StateBadge>
      </td>
      <td className="small secondary breakable">{reason}</td>
    </tr>
  );
}

const endings = { Stopped: 'Stopped', Failed: 'Failed', Completed: 'Tested', Running: 'Started' } as const;

function Results({ owner, test }: { owner: CapabilityOwner; test: Test }) {
  const { state, startedAt, endedAt, model, cost, results, message } = test;
  const yes = results.filter(({ outcome }) => outcome === 'yes').length;
  return (
    <>
      {state !== 'Running' && (
        <p className="small secondary">
          {endings[state]} {formatTime(endedAt ?? startedAt)} with{' '}
          {owner.fileName !== undefined ? owner.name : <span className="mono--small">{model}</span>}
          {results.length > 0 && `: ${yes} of ${formatPlural(results.length, 'capability', 'capabilities')}`}
          {cost !== null && cost > 0 && `, ${formatCost(cost)}`}
        </p>
      )}
      {message !== null && <Notice tone="negative">{message}</Notice>}
      {results.length > 0 && (
        <table className="capabilities">
          <thead className="visually-hidden">
            <tr>
              <th>Capability</th>
              <th>Result</th>
              <th>Reason</th>
            </tr>
          </thead>
          <tbody>
            {results.map((result) => (
              <ResultRow key={result.capability} result={result} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Running({ test: { id, done, requests } }: { test: Test }) {
  const stop = useStopCapabilityTest();
  return (
    <div className="capability-test__running">
      <Progress label="Capability test" fraction={requests === 0 ? 1 : done / requests} />
      <span className="small secondary numbers">
        {done} of {formatPlural(requests, 'request')}
      </span>
      <Button size="small" isBusy={stop.isPending} onClick={() => stop.mutate(id)}>
        Stop
      </Button>
    </div>
  );
}

function StartForm({ owner, models }: { owner: CapabilityOwner; models: readonly Model[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen ?? defaultModel(models);
  const estimate = useCapabilityEstimate({ aiSystem: owner.aiSystem, model });
  const start = useStartCapabilityTest();
  if (model === null) {
    const advice =
      owner.fileName !== undefined ? 'Route a built-in model to this device first.' : 'Test the connection first.';
    return <p className="small secondary">No model to test. {advice}</p>;
  }
  const { requests, maxCost } = estimate.data ?? {};
  const cost = maxCost === null ? 'The price of this model is unknown.' : `At most ${formatCost(maxCost ?? 0)}.`;
  const error = start.error ?? estimate.error;
  return (
    <>
      <div className="capability-test__form">
        {/* Every built-in model that is routed to this device runs the same on-device model. */}
        {owner.fileName === undefined && (
          <Select
            label={`Model to test of ${owner.name}`}
            size="small"
            isMono
            value={model}
            onValueChange={setChosen}
            options={models.map(({ name }) => ({ value: name, label: name }))}
          />
        )}
        <Button
          size="small"
          variant="primary"
          isBusy={start.isPending}
          aria-disabled={requests === undefined}
          onClick={() => start.mutate({ aiSystem: owner.aiSystem, model })}
        >
          Test what this {owner.fileName !== undefined ? 'model' : 'provider'} can do
        </Button>
      </div>
      <p className="small secondary">
        {requests !== undefined &&
          (owner.fileName !== undefined
            ? `Runs ${formatPlural(requests, 'small request')} on this device, which can take some minutes.`
            : `Sends ${formatPlural(requests, 'small request')} to ${owner.name}, which bills them. ${cost}`)}
      </p>
      {error !== null && <Notice tone="negative">{describeError(error).message}</Notice>}
    </>
  );
}

/** Tests what a provider can do, and shows the results of the last test. */
export function CapabilityTest({ owner }: { owner: CapabilityOwner }) {
  const tests = useCapabilityTests();
  const models = useModels();
  const { fileName } = owner;
  // Another on-device model may have been the default.
  const test = tests.data?.data.find(
    (each) => isOf(owner, each) && (fileName === undefined || each.servedBy === `on-device/${fileName}`),
  );
  const isRunning = test?.state === 'Running';
  const own = models.data?.data.filter(
    (model) =>
      isOf(owner, { ...model, model: model.name }) &&
      !model.hasEnded &&
      (fileName === undefined || runsOnDevice(model)),
  );
  return (
    <div className="capability-test" role="group" aria-label={`Capabilities of ${owner.name}`}>
      {isRunning ? <Running test={test} /> : <StartForm owner={owner} models={own ?? []} />}
      {test && <Results owner={owner} test={test} />}
    </div>
  );
}
