import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, describe, expect, test } from 'vitest';
import { Button } from '../../../../renderer/components/button.tsx';
import { Segmented } from '../../../../renderer/components/choices.tsx';
import { ErrorBoundary } from '../../../../renderer/components/error-boundary.tsx';
import { TextField } from '../../../../renderer/components/text-field.tsx';

afterEach(cleanup);

test('a busy button ignores another click and keeps the focus', () => {
  const pressed: string[] = [];
  render(
    <Button isBusy onClick={() => pressed.push('pressed')}>
      Save
    </Button>,
  );
  const button = screen.getByRole('button', { name: 'Save' });
  button.focus();
  fireEvent.click(button);
  expect([pressed, document.activeElement]).toEqual([[], button]);
  // What ignores a click says so.
  expect([button.getAttribute('aria-busy'), button.getAttribute('aria-disabled')]).toEqual(['true', 'true']);
});

test('a choice between views always has one selected', () => {
  function Part() {
    const [view, setView] = useState<'template' | 'rendered'>('template');
    const options = [
      { value: 'template', label: 'Template' },
      { value: 'rendered', label: 'Rendered' },
    ] as const;
    return <Segmented label="View" value={view} onValueChange={setView} options={options} />;
  }
  render(<Part />);
  const isOn = (name: string) => screen.getByRole('radio', { name }).getAttribute('aria-checked');
  fireEvent.click(screen.getByText('Template'));
  expect(isOn('Template')).toBe('true');
  fireEvent.click(screen.getByText('Rendered'));
  expect([isOn('Template'), isOn('Rendered')]).toEqual(['false', 'true']);
});

test('an invalid field shows the reason, also to screen readers', () => {
  render(<TextField label="Port" value="99999" onValueChange={() => {}} error="0 to 65535" />);
  const field = screen.getByLabelText('Port');
  const note = document.getElementById(field.getAttribute('aria-describedby') ?? '');
  expect([field.getAttribute('aria-invalid'), note?.textContent]).toEqual(['true', '0 to 65535']);
});

describe('a part of the window that crashes', () => {
  test("shows the error, doesn't affect the rest, and can be opened again", () => {
    let isBroken = true;
    const reported = console.error;
    console.error = () => {};
    function Part() {
      if (isBroken) throw new Error('boom');
      return <p>works</p>;
    }
    render(
      <>
        <p>rest</p>
        <ErrorBoundary name="Playground">
          <Part />
        </ErrorBoundary>
      </>,
    );
    console.error = reported;
    expect(screen.getByRole('alert').textContent).toContain('Playground crashed');
    expect(screen.getByText('rest')).toBeTruthy();
    isBroken = false;
    fireEvent.click(screen.getByText('Reload this screen'));
    expect(screen.getByText('works')).toBeTruthy();
  });
});
