/** The eight 16-bit words of a valid IPv6 address, `::ffff:1.2.3.4` included; a zone is left out. */
export function ipv6Words(address: string): number[] {
  const whole = address.split('%')[0] ?? '';
  const last = whole.slice(whole.lastIndexOf(':') + 1);
  const text = last.includes('.') ? `${whole.slice(0, -last.length)}${ipv4Words(last)}` : whole;
  const [head = '', rest] = text.split('::');
  const left = words(head);
  if (rest === undefined) return left;
  const right = words(rest);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function ipv4Words(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function words(part: string): number[] {
  return part === '' ? [] : part.split(':').map((word) => parseInt(word, 16));
}
