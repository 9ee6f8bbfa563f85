/// <reference types="vite/client" />
import { cleanup, configure } from '@testing-library/react';
import { afterAll } from 'vitest';
import type { StoreApi } from 'zustand';
import { patience } from './patience.ts';

configure({ asyncUtilTimeout: patience.timeout });

const modules = import.meta.glob<Record<string, unknown>>('../../renderer/stores/*.ts', { eager: true });

function isStore(value: unknown): value is StoreApi<unknown> {
  return typeof value === 'function' && 'getInitialState' in value;
}

// Files of tests share their modules, which takes a third of the time; a store of one file must not fill a screen of the next.
afterAll(() => {
  cleanup();
  for (const value of Object.values(modules).flatMap((module) => Object.values(module))) {
    if (isStore(value)) value.setState(value.getInitialState(), true);
  }
  localStorage.clear();
  sessionStorage.clear();
});
