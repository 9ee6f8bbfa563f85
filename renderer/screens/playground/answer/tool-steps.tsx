import { memo } from 'react';
import type { CompletionRequest } from '../../../../shared/contract/completions.ts';
import type { ToolCall } from '../../../../shared/contract/tools.ts';
import { LazyMarkdown } from '../../../components/markdown/lazy-markdown.tsx';
import { CallStep } from '../../../components/tool-calls/call-step.tsx';
import type { ToolStep } from '../../../stores/tool-steps.ts';
import { useMockResults } from '../../../components/tool-calls/automatic-results.ts';
import { PromptStepFoot as StepFoot } from '../../../components/tool-calls/step-foot.tsx';
import { getActiveDraft, useDrafts } from '../../../stores/playground-drafts.ts';
import type { ShownRun } from './shown-run.ts';

/** Continues a run that began with a request: its answer is the last of these steps, with the results to send. */
export type ContinueRun = (request: CompletionRequest, steps: readonly ToolStep[]) => void;

interface EarlierStepsProps {
  request: CompletionRequest;
  steps: readonly ToolStep[];
  onContinue: ContinueRun | undefined;
}

/** The steps before a run: each answer with its calls and their results. */
export const EarlierSteps = memo(function EarlierSteps({ request, steps, onContinue }: EarlierStepsProps) {
  return steps.map((step, index) => (
    <div key={index} className="calls__step" role="group" aria-label={`Step ${index + 1}`}>
      {step.text !== '' && <LazyMarkdown text={step.text} isGrowing={false} />}
      <CallStep
        runId={step.runId}
        calls={step.calls}
        sent={step.results}
        isGrowing={false}
        isStreaming={false}
        isNewest={false}
        Foot={StepFoot}
        onContinue={
          onContinue && step.runId !== null
            ? (results) => onContinue(request, [...steps.slice(0, index), { ...step, results }])
            : undefined
        }
      />
    </div>
  ));
});

const noCalls: readonly ToolCall[] = [];

/** The calls of a run's own answer. */
export function OwnCalls({ run, onContinue }: { run: ShownRun; onContinue: ContinueRun | undefined }) {
  const { request, steps, runId, text, toolCalls, state } = run;
  const isWhole = state === 'completed' && run.finishReason === 'ToolCalls';
  const canContinue = onContinue && runId !== null && isWhole && run.agentId === null;
  const tools = useDrafts((drafts) => getActiveDraft(drafts).tools);
  const mocked = useMockResults(canContinue ? toolCalls : noCalls, tools);
  if (toolCalls.length === 0) return null;
  return (
    <CallStep
      runId={runId}
      calls={toolCalls}
      sent={mocked}
      isGrowing={state !== 'completed'}
      isStreaming={state === 'streaming'}
      isNewest
      Foot={StepFoot}
      onContinue={
        canContinue
          ? (results) => onContinue(request, [...steps, { runId, text, calls: toolCalls, results }])
          : undefined
      }
    />
  );
}
