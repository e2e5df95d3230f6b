import { expect, test } from 'vitest';
import { testCertificate } from '../../service/transport/test-certificate.ts';
import { wrongAuthorities } from './authorities.ts';

const { cert } = testCertificate;
const lines = cert.trimEnd().split('\n');

// B12
test.each<[string, string, string]>([
  ['a certificate', cert, 'nothing'],
  ['several, with text around them', `# ours\n${cert}\n# and another\n${cert}`, 'nothing'],
  ['nothing', '', 'holds no PEM certificate'],
  ['a key', testCertificate.key, 'holds no PEM certificate'],
  ['one that was cut', lines.slice(0, -3).join('\n'), 'holds a PEM certificate that does not end'],
  ['one that lacks a line', lines.toSpliced(4, 1).join('\n'), 'cannot be read (number 1 of 1)'],
  [
    'a second one that is broken',
    `${cert}${lines.toSpliced(4, 1).join('\n')}`,
    'cannot be read (number 2 of 2)',
  ],
])('authorities that are %s', (_what, pem, wrong) => {
  expect(wrongAuthorities(pem) ?? 'nothing').toContain(wrong);
});
