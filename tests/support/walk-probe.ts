/** What a walk needs to know of the page after an action, and to do the next one. */
export interface View {
  /** What the window shows of a crash. */
  readonly crashes: readonly string[];
  readonly hash: string;
  /** Where the controls are that the next action was to use; null where none can be reached. */
  readonly points: readonly ({ readonly x: number; readonly y: number; readonly kind: string } | null)[];
}

export interface WalkProbe {
  /** Resolves when the host has responded and the window has drawn it. `picks` choose controls, whichever are there. */
  scan(picks: readonly number[]): Promise<View>;
}

interface Frame {
  readonly type?: string;
  readonly id: number;
  readonly status?: number;
}

/**
 * Runs in the page, before its own scripts: watches the requests of the window, whichever way they reach the host, and offers
 * `walkProbe`. A response with the status 500 is an error of the host, which never has one on purpose.
 */
export function installWalkProbe(): void {
  let openRequests = 0;
  const finish = (status: number | undefined): void => {
    openRequests -= 1;
    if (status === 500) console.error('The host responded with 500');
  };

  const { fetch } = globalThis;
  globalThis.fetch = async (...parameters) => {
    openRequests += 1;
    let status: number | undefined;
    try {
      const response = await fetch(...parameters);
      status = response.status;
      return response;
    } finally {
      finish(status);
    }
  };

  const { postMessage } = MessagePort.prototype as { postMessage: (...parameters: unknown[]) => void };
  const open = new Map<MessagePort, Set<number>>();
  const idsOf = (port: MessagePort): Set<number> => {
    const known = open.get(port);
    if (known) return known;
    const ids = new Set<number>();
    open.set(port, ids);
    port.addEventListener('message', ({ data }: MessageEvent<Frame>) => {
      if (['head', 'end', 'failure'].includes(data.type ?? '') && ids.delete(data.id)) finish(data.status);
    });
    return ids;
  };
  // Other ports of the page, such as the one that React schedules with, carry no frames.
  MessagePort.prototype.postMessage = function (this: MessagePort, ...parameters: unknown[]): void {
    const frame = parameters[0] as Frame | null;
    if (frame?.type === 'request') {
      idsOf(this).add(frame.id);
      openRequests += 1;
    } else if (frame?.type === 'cancel' && open.get(this)?.delete(frame.id)) finish(undefined);
    postMessage.apply(this, parameters);
  };

  /** What leaves the app or the page: links to other screens are followed by walks of their own. */
  const leaving = '.rail, a[target=_blank], a[download], input[type=file]';
  const controls =
    'button, a[href], input, textarea, [role=option], [role=menuitem], [role=radio], [role=slider], [role=row], [role=separator], .cm-content';

  const kindOf = (control: HTMLElement): string => {
    const name =
      control.getAttribute('aria-label') ?? (control.matches('button, [role=menuitem]') && control.textContent);
    return `${control.getAttribute('role') ?? control.tagName}.${control.className} ${name || ''}`.replaceAll(
      /\d+/g,
      '0',
    );
  };

  const middleOf = (control: HTMLElement): { x: number; y: number } => {
    const { left, top, width, height } = control.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };

  /** The controls that the mouse reaches, by kind: a long list counts as one control. */
  const reachable = (): [string, HTMLElement[]][] => {
    const layers = document.querySelectorAll('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]');
    const layer = [...layers].findLast((element) => element.closest('#window') === null) ?? document;
    const found = [...layer.querySelectorAll<HTMLElement>(controls)].filter((control) => {
      if (control.closest(leaving)) return false;
      const { x, y } = middleOf(control);
      return control.contains(document.elementFromPoint(x, y));
    });
    return [...Map.groupBy(found, kindOf)];
  };

  const scan: WalkProbe['scan'] = async (picks) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await frame();
    // A slow response is waited for as long as a person would before the next click.
    for (let frames = 0; openRequests > 0 && frames < 20; frames += 1) await frame();
    // What React and the screens put off to a task of its own comes before this one.
    await new Promise((resolve) => setTimeout(resolve));
    const crashes = [...document.querySelectorAll('.boundary [role=alert]')].map(({ textContent }) => textContent);
    if (!document.querySelector('#window > *')) crashes.push('The window is empty');
    const kinds = picks.length > 0 ? reachable() : [];
    const points = picks.map((pick) => {
      const [kind, group] = kinds[pick % Math.max(1, kinds.length)] ?? [];
      return group ? { ...middleOf(group[Math.floor(pick / kinds.length) % group.length]!), kind: kind! } : null;
    });
    return { crashes, hash: location.hash, points };
  };
  Object.assign(globalThis, { walkProbe: { scan } satisfies WalkProbe });
}
