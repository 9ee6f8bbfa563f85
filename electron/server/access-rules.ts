import { AppError } from '../../shared/app-error.ts';

/** What a request says about where it was sent and where it comes from. */
export interface RequestSource {
  /** Every `Host` line, `:authority` and authority of the target that the request carries. */
  readonly authorities: readonly string[];
  readonly origin: string | undefined;
}

/** The names that lead to a listener on the loopback interface; everything else is somebody else's page or name server. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Keeps web pages out. A page of another site can send requests to a loopback port: directly (then its `Origin` is not
 * ours), or by pointing its own name at 127.0.0.1 (DNS rebinding: then the `Host` is not ours).
 */
export class AccessRules {
  readonly #authorities: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor(listener: { port: number; isTls: boolean }) {
    const scheme = listener.isTls ? 'https' : 'http';
    const defaultPort = listener.isTls ? 443 : 80;
    const authorities = loopbackNames.map((name) => `${name}:${listener.port}`);
    if (listener.port === defaultPort) authorities.push(...loopbackNames);
    this.#authorities = new Set(authorities);
    this.#origins = new Set(authorities.map((authority) => `${scheme}://${authority}`));
  }

  /** The refusal of a request that must not reach the API, or null. */
  refusal({ authorities, origin }: RequestSource): AppError | null {
    if (authorities.length === 0) {
      return new AppError('invalid_request', 'The request has no Host header; send the address of this service in it.');
    }
    if (!authorities.every((authority) => this.#authorities.has(authority.toLowerCase()))) {
      return new AppError(
        'misdirected_request',
        'This service answers only to 127.0.0.1, localhost and [::1] with its port; use one of them in the address.',
      );
    }
    if (origin !== undefined && !this.isOwnOrigin(origin)) {
      return new AppError(
        'forbidden',
        'Pages of other sites may not call this service; call it from a program, or use its own window.',
      );
    }
    return null;
  }

  isOwnOrigin(origin: string): boolean {
    return this.#origins.has(origin.toLowerCase());
  }
}
