const DEPTH = 6;
const ITEMS = 100;
const TEXT = 8_192;
const HIDDEN = '[redacted]';

/** Names of fields whose text is never logged, however it got there. */
const SECRET_NAME =
  /^(.*[-_])?(password|passwd|token|secret|secretvalue|authorization|cookie|api[-_]?key|credentials?|private[-_]?key|data|string[-_]?data|body|headers)$/i;
const SECRET_CAMEL = /(Password|Token|SecretValue|Authorization|Cookie|ApiKey|PrivateKey|StringData)$/;

/**
 * What may be logged of a value: errors as code, message, stack and the same of their causes, without bodies
 * and whatever else hangs on them; nothing under a name that speaks of a secret; no bytes. The second net:
 * nobody is to put a secret into a log field in the first place.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Error) return errorFields(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, ITEMS).map((item) => redact(item, depth + 1));
  if (value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ITEMS)
      .map(([name, member]) => [name, isSecret(name, member) ? HIDDEN : redact(member, depth + 1)]),
  );
}

/** Takes out of a text what has the form of a credential. */
export function redactText(text: string): string {
  const cut = text.length > TEXT ? `${text.slice(0, TEXT)}…` : text;
  return cut
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`)
    .replaceAll(/:\/\/[^\s/@:]+:[^\s/@]+@/g, `://${HIDDEN}@`)
    .replaceAll(/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN)
    .replaceAll(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN);
}

function isSecret(name: string, value: unknown): boolean {
  if (typeof value === 'boolean' || typeof value === 'number' || value === undefined) return false;
  return SECRET_NAME.test(name) || SECRET_CAMEL.test(name);
}

function errorFields(error: Error, depth: number): object {
  const { code, status, reason, method, template, path } = error as unknown as Record<string, unknown>;
  const own = Object.fromEntries(
    Object.entries({ code, status, reason, method, template, path }).filter(([, member]) =>
      ['string', 'number'].includes(typeof member),
    ),
  );
  return {
    name: error.name,
    message: redactText(error.message),
    ...own,
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause instanceof Error && depth < DEPTH ? { cause: errorFields(error.cause, depth + 1) } : {}),
  };
}
