import { createContext, use, useCallback, useMemo, useState, type ReactNode, type RefCallback } from 'react';
import type { GroundingChoice } from '../../../../shared/contract/grounding.ts';
import { useActiveDraft } from '../../../stores/playground-drafts.ts';
import { useComparisonState, type Comparison } from '../compare/use-comparison.ts';
import type { ContinueRun } from '../answer/tool-steps.tsx';
import type { Blocker } from './run-request.ts';
import { isWaitingForModel, useChosenModel, useInstallOffered, useRunner } from './use-runner.ts';

/*
 * What parts of the playground share, one context for each concern. No value holds a run: its tokens render only the components that
 * read the run from the store.
 */

/** What one part of the playground opens and another part shows. */
export type OpenPart =
  'model-picker' | 'name-field' | 'parameters' | 'save-dialog' | 'schema-dialog' | `tools/${string}`;

/** The tool in the tool editor; empty for the first one, and null while the editor is closed. */
export function openToolId(part: OpenPart | null): string | null {
  return part?.startsWith('tools/') ? part.slice('tools/'.length) : null;
}

interface OpenParts {
  openPart: OpenPart | null;
  open: (part: OpenPart) => void;
  /** Does nothing while another part is open. */
  close: (part: OpenPart) => void;
}

/** A field that other parts of the playground can move the focus to. */
export type FocusTarget = 'prompt' | `variable/${string}` | `parameter/${string}`;

interface FocusTargets {
  /** Returns the function that removes the target. */
  add: (target: FocusTarget, focus: (offset: number) => void) => () => void;
  /**
   * Returns whether the field is on the screen. One that isn't yet gets the focus when it is drawn, unless the focus has moved by then.
   * `offset` is the position of the cursor in the prompt.
   */
  focus: (target: FocusTarget, offset?: number) => boolean;
}

function createFocusTargets(): FocusTargets {
  const targets = new Map<FocusTarget, (offset: number) => void>();
  let awaited: { target: FocusTarget; offset: number; focused: Element | null } | null = null;
  return {
    add: (target, focus) => {
      targets.set(target, focus);
      if (awaited?.target === target) {
        const { offset, focused } = awaited;
        awaited = null;
        if (document.activeElement === focused) focus(offset);
      }
      return () => {
        if (targets.get(target) === focus) targets.delete(target);
      };
    },
    focus: (target, offset = 0) => {
      const focus = targets.get(target);
      awaited = focus ? null : { target, offset, focused: document.activeElement };
      focus?.(offset);
      return focus !== undefined;
    },
  };
}

/** The run of the open draft, with those of the models beside it where it is compared. */
export interface RunControls {
  isActive: boolean;
  /** Queued: the run starts when the on-device model is ready. */
  isWaiting: boolean;
  /** Whether the chosen model must be downloaded first. */
  mustWait: boolean;
  blocker: Blocker | null;
  run: () => void;
  /** Continues a run of the open draft with the results of its tool calls. */
  continueRun: ContinueRun;
  stop: () => void;
  /** Without the compared models. */
  runOwn: () => void;
  stopOwn: () => void;
  /** Downloads the on-device model, unless its download runs. */
  install: () => void;
}

const OpenPartsContext = createContext<OpenParts | null>(null);
const FocusTargetsContext = createContext<FocusTargets | null>(null);
const RunControlsContext = createContext<RunControls | null>(null);
const ComparisonContext = createContext<Comparison | null>(null);

function required<Value>(value: Value | null): Value {
  if (value === null) throw new Error('Render the component inside PlaygroundSession');
  return value;
}

export const useOpenParts = (): OpenParts => required(use(OpenPartsContext));
export const useFocusTargets = (): FocusTargets => required(use(FocusTargetsContext));
export const useRunControls = (): RunControls => required(use(RunControlsContext));
export const useComparison = (): Comparison => required(use(ComparisonContext));

/** Returns a function that makes the ref of a field, so that `FocusTargets.focus` reaches the field. */
export function useFieldRef(): (target: FocusTarget) => RefCallback<HTMLElement> {
  const targets = useFocusTargets();
  return useCallback(
    (target) => (element) => (element === null ? undefined : targets.add(target, () => element.focus())),
    [targets],
  );
}

function RunSession({ children }: { children: ReactNode }) {
  const draft = useActiveDraft();
  const model = useChosenModel(draft);
  const {
    isActive,
    isWaiting,
    blocker,
    run: runDraft,
    runWith,
    continueRun,
    stop: stopOwn,
  } = useRunner(draft.id, model);
  const install = useInstallOffered();
  const mustWait = isWaitingForModel(model);
  const runOwn = useCallback(() => {
    if (mustWait) install();
    runDraft();
  }, [install, mustWait, runDraft]);
  const runOn = useCallback(
    (choice: GroundingChoice | null) => (choice && !mustWait ? runWith(choice) : runOwn()),
    [mustWait, runOwn, runWith],
  );
  const comparison = useComparisonState(draft, model, runOn);
  const controls = useMemo(
    () => ({
      isActive: isActive || comparison.isRunning,
      isWaiting,
      mustWait,
      blocker,
      run: comparison.isActive ? comparison.run : runOwn,
      continueRun,
      stop: () => {
        stopOwn();
        comparison.stop();
      },
      runOwn,
      stopOwn,
      install,
    }),
    [blocker, comparison, continueRun, install, isActive, isWaiting, mustWait, runOwn, stopOwn],
  );
  return (
    <ComparisonContext value={comparison}>
      <RunControlsContext value={controls}>{children}</RunControlsContext>
    </ComparisonContext>
  );
}

/** Provides the run, the comparison, the open dialog and the fields of the open draft. */
export function PlaygroundSession({ children }: { children: ReactNode }) {
  const [openPart, setOpenPart] = useState<OpenPart | null>(null);
  const openParts = useMemo(
    () => ({
      openPart,
      open: setOpenPart,
      close: (part: OpenPart) => setOpenPart((current) => (current === part ? null : current)),
    }),
    [openPart],
  );
  const [focusTargets] = useState(createFocusTargets);
  return (
    <FocusTargetsContext value={focusTargets}>
      <OpenPartsContext value={openParts}>
        <RunSession>{children}</RunSession>
      </OpenPartsContext>
    </FocusTargetsContext>
  );
}
