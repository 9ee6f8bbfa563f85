import { create } from 'zustand';
import type { AuditFilter } from '../../shared/contract/audit.ts';

/** What a person sees of a call. */
export type CallPart = 'turns' | 'request' | 'response' | 'headers';

interface RecorderView {
  /** Beside the APIs of recorded calls. */
  filter: AuditFilter;
  /** The list was cleared then, as a timestamp; null if it has all calls. */
  clearedAt: string | null;
  grouping: 'conversation' | 'program';
  /** The conversation that a person chose; null to follow the newest one. */
  chosenId: string | null;
  part: CallPart;
  /** In a narrow window, whether it shows how to connect a program; null while there are no calls. */
  isConnectOpen: boolean | null;
  /** Failures of recording that a person dismissed. */
  dismissedFailures: number;
}

export const initialRecorderView: RecorderView = {
  filter: {},
  clearedAt: null,
  grouping: 'conversation',
  chosenId: null,
  part: 'turns',
  isConnectOpen: null,
  dismissedFailures: 0,
};

/** The view of the Recorder. It outlives the screen, not the window. */
export const useRecorderView = create<RecorderView>()(() => initialRecorderView);
