import { create } from 'zustand';

interface Transfer {
  /** Which dialog is open. */
  open: 'nothing' | 'import' | 'export';
  /** Counts how often the import was opened: files may be opened with Touchstone while it is. */
  importRequests: number;
}

export const useTransfer = create<Transfer>(() => ({ open: 'nothing', importRequests: 0 }));

export const openImport = (): void =>
  useTransfer.setState(({ importRequests }) => ({ open: 'import', importRequests: importRequests + 1 }));
export const openExport = (): void => useTransfer.setState({ open: 'export' });
export const closeTransfer = (): void => useTransfer.setState({ open: 'nothing' });
