import type { Clock } from '../base/clock.ts';
import type { AccessSource } from './auth.ts';
import type { KubeAnswer, KubePort, KubeRequest, KubeWatch } from './port.ts';

/** Options of {@link UndiciKubePort}. */
export interface UndiciKubePortOptions {
  access: AccessSource;
  clock: Clock;
  /** @defaultValue `boxwright` */
  userAgent?: string;
}

/** The production {@link KubePort}. */
export class UndiciKubePort implements KubePort {
  constructor(_options: UndiciKubePortOptions) {
    // Follows.
  }

  request(_request: KubeRequest): Promise<KubeAnswer> {
    return Promise.reject(new Error('follows'));
  }

  watch(_request: KubeRequest): Promise<KubeWatch> {
    return Promise.reject(new Error('follows'));
  }

  /** Ends all connections. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
