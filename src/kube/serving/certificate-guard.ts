import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { ALLOWED, type Guard, type Refusal, type Verdict } from './guard.ts';

const NO_CERTIFICATE: Refusal = {
  kind: 'refused',
  status: 401,
  text: 'show a client certificate of the authority that the operator was given',
};
const OTHER_NAME: Refusal = {
  kind: 'refused',
  status: 403,
  text: 'the certificate has none of the names that may read',
};

/**
 * Lets in who shows a client certificate of the authority that the server was given. It asks nobody, and so
 * needs no right in the cluster.
 */
export class CertificateGuard implements Guard {
  readonly #clock: Clock;
  readonly #names: readonly string[];

  /** `names`: common names or DNS names, of which a certificate has to have one; none: every certificate will do. */
  constructor(clock: Clock, names: readonly string[] = []) {
    this.#clock = clock;
    this.#names = names;
  }

  async judge({ socket }: IncomingMessage): Promise<Verdict> {
    // A resumed session counts as authorized whatever it showed at first: look at what was shown, too.
    if (!(socket instanceof TLSSocket) || !socket.authorized) return NO_CERTIFICATE;
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) return NO_CERTIFICATE;
    // Connections are kept for long: it was good when this one began.
    if (certificate.validToDate.getTime() < this.#clock.now()) return NO_CERTIFICATE;
    if (this.#names.length === 0) return ALLOWED;
    const commonName: unknown = certificate.toLegacyObject().subject.CN;
    const named = this.#names.some(
      (name) =>
        commonName === name || certificate.checkHost(name, { subject: 'never', wildcards: false }) === name,
    );
    return named ? ALLOWED : OTHER_NAME;
  }
}
