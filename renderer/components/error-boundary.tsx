import { Component, type ErrorInfo, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { PartNotLoaded } from './lazy-part.tsx';
import { Failure } from './state-panels.tsx';

interface ErrorBoundaryProps {
  /** The part of the window inside it: `Playground`. */
  name: string;
  /** Identifies the content, such as its address. Another key clears a crash. */
  resetKey?: string;
  /** Goes to an address that doesn't crash. The content is then rendered again. */
  onReload?: () => void;
  children: ReactNode;
}

function describeFailure(name: string, error: unknown): { title: string; reason: ReactNode } {
  if (error instanceof PartNotLoaded) {
    return {
      title: `Couldn't load ${name}`,
      reason:
        "Touchstone isn't running, or it was updated. Your work is saved. Reload this screen, or reload the window.",
    };
  }
  return {
    title: `${name} crashed`,
    reason: (
      <>
        Your work is saved. Reload this screen. If it crashes again, reload the window.{' '}
        <span className="mono--small">{error instanceof Error ? error.message : String(error)}</span>
      </>
    ),
  };
}

interface ErrorBoundaryState {
  error: unknown;
  /** The `resetKey` at which it crashed. */
  crashedKey: string | undefined;
}

/** Contains a crash: the rest of the window keeps working, and nothing typed is lost. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: null, crashedKey: undefined };

  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { error };
  }

  static getDerivedStateFromProps(
    { resetKey }: ErrorBoundaryProps,
    { crashedKey }: ErrorBoundaryState,
  ): ErrorBoundaryState | null {
    return crashedKey === undefined || crashedKey === resetKey ? null : { error: null, crashedKey: undefined };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    if (error instanceof PartNotLoaded) error.forget();
    console.error(`${this.props.name} failed`, error, info.componentStack);
    this.setState({ crashedKey: this.props.resetKey });
  }

  #reload = (): void => {
    // Files that failed to load aren't the fault of the address.
    if (!(this.state.error instanceof PartNotLoaded)) this.props.onReload?.();
    this.setState({ error: null, crashedKey: undefined });
  };

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="boundary">
        <Failure {...describeFailure(this.props.name, error)}>
          <Button onClick={this.#reload}>Reload this screen</Button>
          <Button variant="quiet" onClick={() => location.reload()}>
            Reload window
          </Button>
        </Failure>
      </div>
    );
  }
}

interface CleanupBoundaryProps {
  /** Identifies the open screen. */
  resetKey: string;
  children: ReactNode;
}

interface CleanupBoundaryState {
  error: unknown;
  /** The number of errors since `resetKey` changed. */
  count: number;
  resetKey: string;
}

/** A screen that crashes this often in a row isn't one that was just left. */
const maxCleanupErrors = 3;

/**
 * Catches errors in the effect cleanups of a screen that is left. The screen's own boundary unmounts with it, so React looks for
 * one above. The next screen renders normally.
 */
export class CleanupBoundary extends Component<CleanupBoundaryProps, CleanupBoundaryState> {
  override state: CleanupBoundaryState = { error: null, count: 0, resetKey: this.props.resetKey };

  static getDerivedStateFromError(error: unknown): Partial<CleanupBoundaryState> {
    return { error };
  }

  static getDerivedStateFromProps(
    { resetKey }: CleanupBoundaryProps,
    state: CleanupBoundaryState,
  ): Partial<CleanupBoundaryState> | null {
    return resetKey === state.resetKey ? null : { resetKey, count: 0 };
  }

  override componentDidCatch(error: unknown, info: ErrorInfo): void {
    console.error('A screen failed while it was closed', error, info.componentStack);
    this.setState(({ count }) => ({ error: count < maxCleanupErrors ? null : error, count: count + 1 }));
  }

  override render(): ReactNode {
    const { error, count } = this.state;
    if (error === null) return this.props.children;
    // The boundary of the window shows it.
    if (count > maxCleanupErrors) throw error;
    return null;
  }
}
