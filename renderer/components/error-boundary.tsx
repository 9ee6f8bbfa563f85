import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { PartNotLoaded } from './lazy-part.tsx';
import { Failure } from './state-panels.tsx';

interface ErrorBoundaryProps {
  /** The part of the window inside it: `Playground`. */
  name: string;
  children: ReactNode;
}

function describeFailure(name: string, error: unknown): { title: string; reason: ReactNode } {
  if (error instanceof PartNotLoaded) {
    return {
      title: `${name} could not be loaded`,
      reason:
        'Touchstone is not running, or it is a newer version than this window. What you typed is kept. Open it again; if it fails again, reload the window.',
    };
  }
  return {
    title: `${name} stopped working`,
    reason: (
      <>
        What you typed is kept. Open it again; if it fails again, reload the window.{' '}
        <span className="mono--small">{error instanceof Error ? error.message : String(error)}</span>
      </>
    ),
  };
}

/** Keeps a failure of one part inside that part: the rest of the window works on, and what was typed is kept. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    if (error instanceof PartNotLoaded) error.forget();
    console.error(`${this.props.name} failed`, error, info.componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="boundary">
        <Failure {...describeFailure(this.props.name, error)}>
          <Button onClick={() => this.setState({ error: null })}>Open again</Button>
          <Button variant="quiet" onClick={() => location.reload()}>
            Reload the window
          </Button>
        </Failure>
      </div>
    );
  }
}
