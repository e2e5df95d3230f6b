import { randomUUID } from 'node:crypto';
import { ServiceTransportError, type PortAnswer, type PortRequest } from '../../src/service/index.ts';
import { answer, type Shop } from '../scenarios/shop.ts';

/** How the service answers a write, for ever. */
export interface Answering {
  name: string;
  /** At most so many sends in the first hour, and in 24 hours. */
  most: { hour: number; day: number };
  /** Without it the write is let through, with {@link Answering.alter}. */
  reply?: (request: PortRequest, shop: Shop) => PortAnswer | Promise<PortAnswer>;
  alter?: (body: string) => string;
  /** The whole Connection waits: nothing else goes through either. */
  stopsAll?: true;
}

/** Five minutes between two tries at the most, and a few at the start. */
const MAY_PASS = { hour: 20, day: 300 };
/** Also what is accepted and never in place. */
const REFUSED = { hour: 6, day: 12 };
/** The client gives up on a write after so long, milliseconds. */
const TIMEOUT_MS = 30_000;

const says = (code: number, headers?: Record<string, string>) => (): PortAnswer =>
  answer(code, { message: `no, says ${code}` }, headers);

/** Every answer that a write can get. */
export const ANSWERS: readonly Answering[] = [
  ...[400, 403, 404, 409, 422].map((code) => ({ name: String(code), most: REFUSED, reply: says(code) })),
  { name: '401', most: REFUSED, reply: says(401), stopsAll: true },
  { name: '429', most: MAY_PASS, reply: says(429) },
  { name: '429, Retry-After', most: MAY_PASS, reply: says(429, { 'retry-after': '7' }) },
  { name: '500', most: MAY_PASS, reply: says(500) },
  { name: '503', most: MAY_PASS, reply: says(503) },
  {
    name: 'reset',
    most: MAY_PASS,
    reply: () => {
      throw new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true });
    },
  },
  {
    name: 'time-out',
    most: MAY_PASS,
    reply: async (_request, { world }) => {
      await world.clock.sleep(TIMEOUT_MS);
      throw new ServiceTransportError('Timeout', 'no answer in 30 s', { maybeSent: true });
    },
  },
  { name: '200, no effect', most: REFUSED, reply: withoutEffect },
  {
    name: '200, normalised',
    most: REFUSED,
    alter: (body) => body.replaceAll('"81"', '"80"').replaceAll(/"(Tools|Large|Larger|Web)"/g, lower),
  },
];

function lower(text: string): string {
  return text.toLowerCase();
}

/** What the service would say, though it does nothing. */
async function withoutEffect({ method, path, body }: PortRequest, shop: Shop): Promise<PortAnswer> {
  const [, family, id] = /^\/services\/(boxes|instances|blobs)(?:\/([^/?]+))?/.exec(path) ?? [];
  if (family === 'blobs')
    return answer(200, { url: `/services/blobs/download/${randomUUID()}/a`, length: 1 });
  if (id !== undefined) {
    if (method === 'DELETE' && family === 'boxes') return { ...answer(204, ''), body: new Uint8Array() };
    const headers = { 'service-token': 'token-of-ops' };
    const request = { method: 'GET', path: `/services/${family}/${id}`, headers, body: new Uint8Array() };
    const { status, body: shown } = await shop.world.sandbox.handle(request);
    return answer(status, JSON.parse(Buffer.from(shown).toString()));
  }
  const sent = JSON.parse(Buffer.from(body ?? '{}').toString()) as object;
  const running = { state: 'processing', operation: { event: 'deploy' } };
  return answer(200, { ...sent, id: randomUUID(), ...(family === 'instances' ? running : {}) });
}
