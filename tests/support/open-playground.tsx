import { act, fireEvent, screen, within } from '@testing-library/react';
import { vi } from 'vitest';
import { PlaygroundScreen } from '../../renderer/screens/playground/playground-screen.tsx';
import { useModelChoices } from '../../renderer/stores/model-choices.ts';
import { useDrafts } from '../../renderer/stores/playground-drafts.ts';
import { useLiveRuns } from '../../renderer/stores/live-runs.ts';
import { usePlaygroundView } from '../../renderer/stores/playground-view.ts';
import { addEndpoint } from '../../shared/contract/providers.ts';
import { giveEverythingSize } from './layout-stand-ins.ts';
import { openWindow, type OpenWindow } from './open-window.tsx';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';

const firstDrafts = useDrafts.getInitialState();

export interface OpenPlayground {
  readonly opened: OpenWindow;
  readonly provider: ScriptedProvider;
  /** Answers every run with this text and presses Run. */
  run(answer: string): void;
  close(): Promise<void>;
}

/** The playground with a prompt on the model `shop/kestrel` of a scripted provider. `isWide` tells whether a media query of a width holds. */
export async function openPlayground({ isWide = true } = {}): Promise<OpenPlayground> {
  giveEverythingSize();
  vi.stubGlobal('matchMedia', () => ({ matches: isWide, addEventListener: () => {}, removeEventListener: () => {} }));
  Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  useDrafts.setState(firstDrafts, true);
  useLiveRuns.setState(useLiveRuns.getInitialState(), true);
  useModelChoices.setState({ recent: [], favourites: [] });
  usePlaygroundView.setState(usePlaygroundView.getInitialState(), true);
  const provider = await startScriptedProvider();
  useDrafts
    .getState()
    .create({ name: 'Test', promptText: 'Hello', aiSystem: 'OpenAiCompatible', model: 'shop/kestrel' });
  const opened = await openWindow(<PlaygroundScreen />, {
    address: '/playground',
    prepare: (client) => client.call(addEndpoint, { body: { name: 'shop', baseAddress: provider.baseAddress } }),
  });
  await screen.findByRole('toolbar', { name: 'Prompt' });
  return {
    opened,
    provider,
    run: (answer) => {
      provider.answerWith((call) =>
        call.path.endsWith('/chat/completions') ? call.chatStream([answer]) : call.models(['kestrel']),
      );
      const toolbar = within(screen.getByRole('toolbar', { name: 'Prompt' }));
      act(() => void fireEvent.click(toolbar.getByRole('button', { name: /^Run/ })));
    },
    close: async () => {
      await opened.close();
      await provider.close();
      vi.unstubAllGlobals();
    },
  };
}

/** Puts columns of the same model beside the answer of the open prompt. */
export function compareWith(count: number): void {
  const { activeId, change } = useDrafts.getState();
  const compared = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    aiSystem: 'OpenAiCompatible' as const,
    model: 'shop/kestrel',
    isGrounded: true,
    runId: null,
  }));
  act(() => change(activeId, { compared }));
}
