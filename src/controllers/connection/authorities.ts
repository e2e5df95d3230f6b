import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const BEGIN = /-----BEGIN CERTIFICATE-----/g;

/**
 * What is wrong with the PEM text of trusted authorities, in words that follow the name of the key; undefined for
 * nothing. Without a look at them first, a broken one shows as a service whose certificate cannot be verified.
 */
export function wrongAuthorities(pem: string): string | undefined {
  const begun = pem.match(BEGIN)?.length ?? 0;
  if (begun === 0) return 'holds no PEM certificate';
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length < begun) return 'holds a PEM certificate that does not end: copy it as a whole';
  const broken = certificates.findIndex((certificate) => !isReadable(certificate));
  if (broken === -1) return undefined;
  return `holds a PEM certificate that cannot be read (number ${broken + 1} of ${certificates.length}): copy it anew`;
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}
