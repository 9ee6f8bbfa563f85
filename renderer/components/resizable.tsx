import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { Group, Panel, Separator, useGroupRef, type Layout, type PanelProps } from 'react-resizable-panels';
import { useWindowState } from '../stores/window.ts';

export interface ResizableGroupProps {
  /** Names the layout in the window's state; unique in the window. */
  id: string;
  orientation?: 'horizontal' | 'vertical';
  className?: string;
  /** Percentages by panel, applied when the orientation changes and the user has not resized the panels in it. */
  turnedLayout?: Layout;
  children: ReactNode;
}

/** Panels in a row or a column. The sizes that a person sets with the pointer or the arrow keys survive a restart. */
export function ResizableGroup({
  id,
  orientation = 'horizontal',
  className,
  turnedLayout,
  children,
}: ResizableGroupProps) {
  const layout = useWindowState.getState().layouts[id];
  const group = useGroupRef();
  const orientationOfLayout = useRef(orientation);
  useLayoutEffect(() => {
    if (orientationOfLayout.current === orientation) return;
    orientationOfLayout.current = orientation;
    const next = useWindowState.getState().layouts[id] ?? turnedLayout;
    if (next) group.current?.setLayout(next);
  }, [group, id, orientation, turnedLayout]);
  return (
    <Group
      groupRef={group}
      orientation={orientation}
      className={className}
      {...(layout ? { defaultLayout: layout } : {})}
      onLayoutChanged={(next, { isUserInteraction }) => {
        if (isUserInteraction) useWindowState.getState().saveLayout(id, next);
      }}
    >
      {children}
    </Group>
  );
}

/** Sizes are percentages as text or pixels as numbers, as in react-resizable-panels. `id` is needed to store the layout. */
export function ResizablePanel(props: PanelProps & { id: string }) {
  return <Panel {...props} />;
}

/** The hairline between two panels; `label` says what it sizes. */
export function ResizeHandle({ label }: { label: string }) {
  return <Separator className="panel-handle" aria-label={label} />;
}
