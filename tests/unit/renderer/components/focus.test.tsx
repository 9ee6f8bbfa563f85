import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { type ReactNode, useState } from 'react';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isFocusFree, useFocusKeeper } from '../../../../renderer/components/focus.ts';

const frame = document.createElement('div');
frame.id = 'window';

function Frame({ children }: { children: ReactNode }) {
  useFocusKeeper();
  return <main aria-label="Screen">{children}</main>;
}

/** Presses a button by keyboard, as a person who doesn't use a mouse. */
function press(name: string): void {
  const button = screen.getByRole('button', { name });
  button.focus();
  fireEvent.click(button);
}

const nextTask = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => setTimeout(resolve))));

/** The focused element by its name, after everything that moves the focus. */
async function focused(): Promise<string> {
  await nextTask();
  const element = document.activeElement;
  return element === document.body ? 'nothing' : (element?.getAttribute('aria-label') ?? element?.textContent ?? '');
}

beforeEach(() => document.body.append(frame));
afterEach(() => {
  cleanup();
  frame.remove();
});

function Rows() {
  const [rows, setRows] = useState(['first', 'second', 'third']);
  return (
    <section aria-label="Rows">
      <button type="button">Add</button>
      <ul>
        {rows.map((row) => (
          <li key={row}>
            <button type="button" onClick={() => setRows(rows.filter((other) => other !== row))}>
              {`Remove ${row}`}
            </button>
          </li>
        ))}
      </ul>
      <input aria-label="Filter" />
    </section>
  );
}

/** A button that another one takes over from, such as Run and Stop. */
function Successor() {
  const [isRunning, setRunning] = useState(false);
  return (
    <section>
      <button type="button">Before</button>
      <div>
        {isRunning ? (
          <button key="stop" type="button" onClick={() => setRunning(false)}>
            Stop
          </button>
        ) : (
          <button key="run" type="button" onClick={() => setRunning(true)}>
            Run
          </button>
        )}
      </div>
    </section>
  );
}

/** A panel that is somewhere else when it is open, with the same button. */
function MovingPanel() {
  const [isOpen, setOpen] = useState(false);
  const toggle = (
    <button type="button" onClick={() => setOpen(!isOpen)}>
      Wire
    </button>
  );
  return isOpen ? (
    <div key="open">
      <button type="button">Copy</button>
      <p>{toggle}</p>
    </div>
  ) : (
    <section key="closed">{toggle}</section>
  );
}

function Screens() {
  const [isOther, setOther] = useState(false);
  return isOther ? (
    <section key="other">
      <button type="button">Delete everything</button>
    </section>
  ) : (
    <section key="one">
      <button type="button" onClick={() => setOther(true)}>
        Open
      </button>
    </section>
  );
}

function Form() {
  const [isOpen, setOpen] = useState(false);
  return isOpen ? (
    <form>
      <button type="button">Cancel</button>
      <input aria-label="Name" ref={(input) => input?.focus()} />
    </form>
  ) : (
    <button type="button" onClick={() => setOpen(true)}>
      Create
    </button>
  );
}

const show = (part: ReactNode) => render(<Frame>{part}</Frame>, { container: frame });

describe('when the control with the focus goes away', () => {
  test('the next one of a list has it, then the one before, then one of what is around', async () => {
    show(<Rows />);
    press('Remove second');
    expect(await focused()).toBe('Remove third');
    press('Remove third');
    expect(await focused()).toBe('Remove first');
    press('Remove first');
    expect(await focused()).toBe('Add');
  });

  test('its successor has it', async () => {
    show(<Successor />);
    press('Run');
    expect(await focused()).toBe('Stop');
    press('Stop');
    expect(await focused()).toBe('Run');
  });

  test('the same control elsewhere has it', async () => {
    show(<MovingPanel />);
    press('Wire');
    expect(await focused()).toBe('Wire');
    press('Wire');
    expect(await focused()).toBe('Wire');
  });

  test('the screen has it when another one opens, until the focus moves on', async () => {
    show(<Screens />);
    press('Open');
    expect(await focused()).toBe('Screen');
    expect(isFocusFree()).toBe(true);
    screen.getByRole('button').focus();
    expect(isFocusFree()).toBe(false);
    expect(screen.getByRole('main').hasAttribute('tabindex')).toBe(false);
  });

  test('a form that takes the focus keeps it', async () => {
    show(<Form />);
    press('Create');
    expect(await focused()).toBe('Name');
  });
});

test('a click beside all controls takes the focus away', async () => {
  show(<Rows />);
  screen.getByRole('button', { name: 'Add' }).focus();
  (document.activeElement as HTMLElement).blur();
  expect(await focused()).toBe('nothing');
  fireEvent.click(screen.getByRole('button', { name: 'Remove first' }));
  expect(await focused()).toBe('nothing');
});

test('a screen that had the focus has it again after a message', async () => {
  show(<Screens />);
  press('Open');
  expect(await focused()).toBe('Screen');
  const layer = document.createElement('button');
  document.body.append(layer);
  layer.focus();
  layer.remove();
  expect(await focused()).toBe('Screen');
});

test('a message above the window gives the focus back to what had it before', async () => {
  show(<Rows />);
  const layer = document.createElement('ol');
  layer.innerHTML = '<li><button>Undo</button></li>';
  document.body.append(layer);
  screen.getByRole('button', { name: 'Add' }).focus();
  screen.getByRole('button', { name: 'Undo' }).focus();
  layer.firstElementChild?.remove();
  expect(await focused()).toBe('Add');
  layer.remove();
});
