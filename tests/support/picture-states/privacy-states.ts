import type { Page } from '@playwright/test';
import { callInPage } from '../served-window.ts';
import type { PictureState } from './steps.ts';

/** Adds an endpoint with a key and gives it another address, so that its row asks. */
async function askForAddress(page: Page): Promise<void> {
  const body = { name: 'gateway', baseAddress: 'https://models.nordwind.example/v1', key: 'sk-0123456789' };
  await callInPage(page, 'POST', '/window/endpoints', body);
  await callInPage(page, 'PATCH', '/window/endpoints/gateway', { baseAddress: 'http://192.0.2.7:8000/v1' });
  await page.reload();
  await page.getByText('Use this key for http://192.0.2.7:8000?').waitFor();
}

async function typeUnencryptedAddress(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const form = page.getByRole('form', { name: 'New endpoint' });
  await form.getByLabel('Name').fill('lan');
  await form.getByLabel('Base URL').fill('http://192.0.2.8:8000/v1');
}

/** Addresses that ask, warnings, and the page that names them. */
export const privacyStates: readonly PictureState[] = [
  { name: 'settings-endpoints-unencrypted', address: '/settings/endpoints', enter: typeUnencryptedAddress },
  { name: 'settings-endpoints-question', address: '/settings/endpoints', enter: askForAddress },
  { name: 'settings-privacy-question', address: '/settings/privacy' },
];
