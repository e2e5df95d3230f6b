import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { createCertificate } from '../../base/x509.ts';

/** A certificate, with what leads to its authority behind it, and its private key; both PEM. */
export interface ServingPair {
  cert: string;
  key: string;
}

/** Where a server has its certificate from. */
export interface CertificateSource {
  /** The pair of now. @throws ServingCertificateError */
  read(): Promise<ServingPair>;
}

/** Thrown when a certificate, a key or an authority cannot be used. Names the file, never what is in it. */
export class ServingCertificateError extends Error {
  readonly code = 'ServingCertificate';

  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = 'ServingCertificateError';
  }
}

/** Far above any chain of certificates; a file larger than this is something else. */
const MAX_FILE_BYTES = 1024 * 1024;
const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** A certificate and its key in files that somebody else may exchange, such as a mounted Secret. */
export function certificateFiles(certFile: string, keyFile: string): CertificateSource {
  return {
    async read() {
      const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)]);
      const certificate = parsed(certFile, () => new X509Certificate(cert));
      const privateKey = parsed(keyFile, () => createPrivateKey(key));
      if (!certificate.checkPrivateKey(privateKey)) {
        throw new ServingCertificateError(`${keyFile} is not the key of the certificate in ${certFile}`);
      }
      return { cert, key };
    },
  };
}

/** A certificate that nobody vouches for, made in memory, and made again when a third of its year is left. */
export function selfSigned(clock: Clock, hosts: readonly string[]): CertificateSource {
  let made: { pair: ServingPair; until: number } | undefined;
  return {
    async read() {
      const now = clock.now();
      if (made === undefined || made.until - now < YEAR / 3) {
        made = { pair: makeSelfSigned(now, hosts), until: now + YEAR };
      }
      return made.pair;
    },
  };
}

function makeSelfSigned(now: number, hosts: readonly string[]): ServingPair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const commonName = 'boxwright-metrics';
  const cert = createCertificate({
    commonName,
    hosts,
    publicKey: createPublicKey(privateKey),
    issuer: { commonName, privateKey },
    usage: 'server',
    // An hour back, for clocks that are behind.
    notBefore: new Date(now - HOUR),
    notAfter: new Date(now + YEAR),
  });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Certificates of authorities in a file. @throws ServingCertificateError */
export async function readAuthorities(file: string): Promise<string> {
  const text = await readPem(file);
  const certificate = parsed(file, () => new X509Certificate(text));
  if (!certificate.ca) throw new ServingCertificateError(`the certificate in ${file} is not an authority’s`);
  return text;
}

async function readPem(file: string): Promise<string> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) {
      throw new ServingCertificateError(`${file} is not a file of at most ${MAX_FILE_BYTES} bytes`);
    }
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof ServingCertificateError) throw cause;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ServingCertificateError(`${file} cannot be read (${code})`, { cause });
  }
}

function parsed<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ServingCertificateError(`what is in ${file} cannot be read as PEM`, { cause });
  }
}
