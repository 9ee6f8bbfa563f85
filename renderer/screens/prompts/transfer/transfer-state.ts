import { create } from 'zustand';

/** Which dialog is open. */
export const useTransfer = create<{ open: 'nothing' | 'import' | 'export' }>(() => ({ open: 'nothing' }));

export const openImport = (): void => useTransfer.setState({ open: 'import' });
export const openExport = (): void => useTransfer.setState({ open: 'export' });
export const closeTransfer = (): void => useTransfer.setState({ open: 'nothing' });
