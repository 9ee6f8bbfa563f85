import { randomBytes } from 'node:crypto';
import { downloadAuditExport } from '../../shared/contract/audit-exports.ts';
import { createExportDownload } from '../../shared/contract/browser.ts';
import { downloadPath } from '../../shared/window-session.ts';
import { implement, type Handler } from '../api/api.ts';

const lifetimeMs = 60_000;

/** More than anybody downloads in a minute; the oldest ticket ends first. */
const maxTickets = 100;

/** Addresses that stand for one GET request of the window each. */
export class DownloadTickets {
  readonly #tickets = new Map<string, { target: string; expiresAt: number }>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  issue(target: string): string {
    const [oldest] = this.#tickets.keys();
    if (oldest !== undefined && this.#tickets.size >= maxTickets) this.#tickets.delete(oldest);
    const ticket = randomBytes(32).toString('base64url');
    this.#tickets.set(ticket, { target, expiresAt: this.#now() + lifetimeMs });
    return downloadPath + ticket;
  }

  /** The target behind an address; null when the address is not a ticket, was used or has expired. */
  redeem(address: string): string | null {
    if (!address.startsWith(downloadPath)) return null;
    const ticket = address.slice(downloadPath.length);
    const issued = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    return issued && issued.expiresAt >= this.#now() ? issued.target : null;
  }
}

export function downloadHandlers(tickets: DownloadTickets): Handler[] {
  return [
    implement(createExportDownload, ({ parameters }) => ({
      address: tickets.issue(downloadAuditExport.path.replace('{id}', parameters.id)),
    })),
  ];
}
