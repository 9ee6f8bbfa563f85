import { renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useNavigateFromHere } from '../../../../renderer/shell/navigate-from-here.ts';

beforeEach(() => history.replaceState(null, '', '#/compare/new'));
afterEach(() => history.replaceState(null, '', '#'));

function navigateFromHere() {
  const wrapper = ({ children }: { children: ReactNode }) => <Router hook={useHashLocation}>{children}</Router>;
  return renderHook(useNavigateFromHere, { wrapper }).result.current;
}

test('navigates after a wait', async () => {
  const navigate = navigateFromHere()();
  await Promise.resolve();
  navigate('/compare/1');
  expect(location.hash).toBe('#/compare/1');
});

test('leaves a person on a page that they opened meanwhile, even before its event', () => {
  const navigate = navigateFromHere()();
  location.hash = '/moderation';
  navigate('/compare/1');
  expect(location.hash).toBe('#/moderation');
});
