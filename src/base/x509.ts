import { randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * X.509 v3 certificates on EC keys (RFC 5280), as far as a development control plane and a metrics endpoint
 * without a certificate of its own need them. `node:crypto` reads certificates but cannot write them; the
 * packages that can would add a dozen others to the bundle.
 */
export interface CertificateRequest {
  commonName: string;
  /** Kubernetes reads these as the user's groups. */
  organizations?: readonly string[];
  publicKey: KeyObject;
  issuer: { commonName: string; privateKey: KeyObject };
  /** Host names and IPv4 addresses the certificate is good for. */
  hosts?: readonly string[];
  usage: 'authority' | 'server' | 'client';
  notBefore: Date;
  notAfter: Date;
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** The signed certificate in PEM. */
export function createCertificate(request: CertificateRequest): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    name(request.issuer.commonName),
    sequence(time(request.notBefore), time(request.notAfter)),
    name(request.commonName, request.organizations),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions(request))),
  );
  const signature = sign('sha256', body, request.issuer.privateKey);
  return pem('CERTIFICATE', sequence(body, algorithm, bitString(signature)));
}

function extensions(request: CertificateRequest): Buffer[] {
  if (request.usage === 'authority') {
    return [
      extension(OID.basicConstraints, true, sequence(boolean(true))),
      // keyCertSign (bit 5) and cRLSign (bit 6).
      extension(OID.keyUsage, true, tagged(0x03, Buffer.from([1, 0x06]))),
    ];
  }
  const purpose = request.usage === 'server' ? OID.serverAuth : OID.clientAuth;
  const list = [
    extension(OID.basicConstraints, true, sequence()),
    // digitalSignature (bit 0).
    extension(OID.keyUsage, true, tagged(0x03, Buffer.from([7, 0x80]))),
    extension(OID.extendedKeyUsage, false, sequence(oid(purpose))),
  ];
  if (request.hosts !== undefined) {
    list.push(extension(OID.subjectAltName, false, sequence(...request.hosts.map(generalName))));
  }
  return list;
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const octets = tagged(0x04, value);
  return critical ? sequence(oid(id), boolean(true), octets) : sequence(oid(id), octets);
}

function generalName(host: string): Buffer {
  return isIP(host) === 4
    ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
    : tagged(0x82, Buffer.from(host, 'ascii'));
}

function name(commonName: string, organizations: readonly string[] = []): Buffer {
  const attribute = (id: string, text: string): Buffer =>
    tagged(0x31, sequence(oid(id), tagged(0x0c, Buffer.from(text, 'utf8'))));
  return sequence(
    ...organizations.map((text) => attribute(OID.organization, text)),
    attribute(OID.commonName, commonName),
  );
}

/** RFC 5280 section 4.1.2.5: UTCTime through 2049, GeneralizedTime from 2050. */
function time(date: Date): Buffer {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits));
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const trimmed = bytes.subarray(start);
  // A leading bit would make it negative.
  return tagged(0x02, (trimmed[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function bitString(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function tagged(tag: number, content: Buffer): Buffer {
  const length = content.length;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
