import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { createCertificate, type CertificateRequest } from '../../base/x509.ts';

const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

/** A certificate with its private key, both PEM. */
export interface Credentials {
  cert: string;
  key: string;
}

/** The certificate authority of one control plane. Kept in its data directory, so that a kubeconfig stays good. */
export class Authority {
  readonly cert: string;
  readonly #key: string;
  readonly #clock: Clock;

  private constructor(credentials: Credentials, clock: Clock) {
    this.cert = credentials.cert;
    this.#key = credentials.key;
    this.#clock = clock;
  }

  /** Reads the authority from `dir`, or makes one there. */
  static open(dir: string, clock: Clock): Authority {
    const certFile = join(dir, 'ca.crt');
    const keyFile = join(dir, 'ca.key');
    if (existsSync(certFile) && existsSync(keyFile)) {
      const stored = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
      return new Authority(stored, clock);
    }
    const key = newPrivateKey();
    const fresh = {
      key,
      cert: certify({ commonName: 'boxwright-devcluster', usage: 'authority' }, key, key, clock),
    };
    writeFileSync(certFile, fresh.cert);
    writeFileSync(keyFile, fresh.key, { mode: 0o600 });
    return new Authority(fresh, clock);
  }

  /** A client certificate: Kubernetes takes the common name as the user and the organizations as its groups. */
  client(user: string, groups: readonly string[] = []): Credentials {
    return this.#issue({ commonName: user, organizations: groups, usage: 'client' });
  }

  /** A serving certificate for `hosts`. */
  server(hosts: readonly string[]): Credentials {
    return this.#issue({ commonName: hosts[0] ?? 'localhost', hosts, usage: 'server' });
  }

  #issue(subject: Subject): Credentials {
    const key = newPrivateKey();
    return { key, cert: certify(subject, key, this.#key, this.#clock) };
  }
}

type Subject = Pick<CertificateRequest, 'commonName' | 'organizations' | 'hosts' | 'usage'>;

function certify(subject: Subject, key: string, authorityKey: string, clock: Clock): string {
  return createCertificate({
    ...subject,
    publicKey: createPublicKey(key),
    issuer: { commonName: 'boxwright-devcluster', privateKey: createPrivateKey(authorityKey) },
    // An hour back: a clock that is corrected meanwhile must not make it "not yet valid".
    notBefore: new Date(clock.now() - HOUR),
    notAfter: new Date(clock.now() + TEN_YEARS),
  });
}

/** A new EC P-256 private key in PEM (PKCS #8). */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** The public half of a PEM private key, in PEM. */
export function publicHalf(privateKey: string): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}
