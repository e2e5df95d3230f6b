import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { answer, listAnswer, refusal, ScriptedPort } from '../../test/support/scripted-port.ts';
import { widget, WIDGETS, type Widget } from '../../test/support/widgets.ts';
import { KubeClient } from './client.ts';
import { KubeApiError } from './errors.ts';
import { KubeTransportError, METADATA_ONLY, type KubeAnswer } from './port.ts';

const REF = { namespace: 'shop', name: 'a' };
const PATH = '/apis/test.example/v1/namespaces/shop/widgets/a';
const lost = (): never => {
  throw new KubeTransportError('reset', { maybeSent: true });
};
const notSent = (): never => {
  throw new KubeTransportError('refused', { maybeSent: false });
};

/** A client whose tries meet the given answers in order, the last one for ever. */
function make(...answers: (KubeAnswer | (() => KubeAnswer))[]) {
  const clock = new VirtualClock();
  const port = new ScriptedPort();
  const rest = [...answers];
  port.onRequest = () => {
    const next = rest.length > 1 ? rest.shift() : rest[0];
    return typeof next === 'function' ? next() : (next ?? answer(200, {}));
  };
  const client = new KubeClient(port, { clock, random: () => 0 });
  /** Runs a call while time passes; answers its result or its error. */
  const outcome = async (call: Promise<unknown>): Promise<unknown> => {
    const ended = call.catch((error: unknown) => error);
    await clock.advance(300_000);
    return ended;
  };
  return { clock, port, client, outcome };
}

describe('KubeClient reads', () => {
  it('gets one object, and undefined when there is none', async () => {
    const { client, port } = make(
      answer(200, widget('a', '5')),
      refusal(404, 'NotFound', { message: 'widgets "a" not found' }),
    );
    expect(await client.get<Widget>(WIDGETS, REF)).toMatchObject({ metadata: { name: 'a' } });
    expect(await client.get<Widget>(WIDGETS, REF, { metadataOnly: true })).toBeUndefined();
    expect(port.requests[0]).toMatchObject({ method: 'GET', path: PATH });
    expect(port.requests[1]?.accept).toBe(METADATA_ONLY.object);
  });

  it.each([
    ['a path nobody serves', answer(404, '404 page not found')],
    [
      'a kind that is not installed',
      refusal(404, 'NotFound', { message: 'the server could not find the requested resource' }),
    ],
  ])('does not take %s for the absence of an object', async (_what, notFound) => {
    const { client } = make(notFound);
    await expect(client.get(WIDGETS, REF)).rejects.toBeInstanceOf(KubeApiError);
  });

  it('lists page by page and fills in the kind', async () => {
    const bare = { metadata: { name: 'a', namespace: 'shop', resourceVersion: '1' } };
    const { client, port } = make(listAnswer('9', [bare], 'next'), listAnswer('9', [widget('b', '2')]));
    const items = await client.list<Widget>(WIDGETS, {
      namespace: 'shop',
      labelSelector: 'x=y',
      pageSize: 1,
    });
    expect(items.map((o) => [o.kind, o.metadata.name])).toEqual([
      ['Widget', 'a'],
      ['Widget', 'b'],
    ]);
    expect(port.requests.map((r) => r.query)).toMatchObject([
      { limit: 1, labelSelector: 'x=y' },
      { limit: 1, labelSelector: 'x=y', continue: 'next' },
    ]);
  });
});

describe('KubeClient writes', () => {
  it('names its field managers, one for the object and one for status', async () => {
    const { client, port } = make();
    await client.create(WIDGETS, { metadata: { name: 'a', namespace: 'shop' } });
    await client.mergePatch(WIDGETS, REF, { spec: {} });
    await client.mergePatch(WIDGETS, REF, { status: {} }, { subresource: 'status' });
    await client.mergePatch(WIDGETS, REF, {}, { fieldManager: 'mine' });
    expect(port.requests.map((r) => r.query?.['fieldManager'])).toEqual([
      'boxwright-operator',
      'boxwright-operator',
      'boxwright-operator-status',
      'mine',
    ]);
    expect(port.requests[0]?.body).toEqual({
      apiVersion: 'test.example/v1',
      kind: 'Widget',
      metadata: { name: 'a', namespace: 'shop' },
    });
    expect(port.requests[2]?.path).toBe(`${PATH}/status`);
  });

  it('puts the guarding version into a merge patch without touching the caller’s', async () => {
    const { client, port } = make();
    const patch = { metadata: { annotations: { a: 'b' } } };
    await client.mergePatch(WIDGETS, REF, patch, { resourceVersion: '7' });
    expect(port.requests[0]).toMatchObject({
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { annotations: { a: 'b' }, resourceVersion: '7' } },
    });
    expect(patch).toEqual({ metadata: { annotations: { a: 'b' } } });
  });

  it('applies server-side, by force when asked', async () => {
    const { client, port } = make();
    await client.apply(WIDGETS, { metadata: { name: 'a', namespace: 'shop' } }, { force: true });
    expect(port.requests[0]).toMatchObject({
      method: 'PATCH',
      path: PATH,
      contentType: 'application/apply-patch+yaml',
      query: { force: true, fieldManager: 'boxwright-operator' },
      body: { apiVersion: 'test.example/v1', kind: 'Widget' },
    });
  });

  it('deletes one incarnation, and says so when there was none', async () => {
    const { client, port } = make(
      answer(200, {}),
      refusal(404, 'NotFound', { message: 'widgets "a" not found' }),
    );
    expect(await client.delete(WIDGETS, REF, { uid: 'u', propagationPolicy: 'Foreground' })).toBe(true);
    expect(await client.delete(WIDGETS, REF)).toBe(false);
    expect(port.requests[0]?.body).toMatchObject({
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
    });
  });

  it('refuses an empty name, which would mean the whole collection', async () => {
    const { client, port } = make();
    await expect(client.delete(WIDGETS, { namespace: 'shop', name: '' })).rejects.toThrow(/cannot be a name/);
    expect(port.requests).toHaveLength(0);
  });
});

const guardedPatch = (client: KubeClient): Promise<unknown> =>
  client.mergePatch(WIDGETS, REF, {}, { resourceVersion: '7' });
const barePatch = (client: KubeClient): Promise<unknown> => client.mergePatch(WIDGETS, REF, {});
const create = (client: KubeClient): Promise<unknown> => client.create(WIDGETS, widget('a', ''));
const get = (client: KubeClient): Promise<unknown> => client.get(WIDGETS, REF);
const deleteUid = (client: KubeClient): Promise<unknown> => client.delete(WIDGETS, REF, { uid: 'u' });
const deleteAny = (client: KubeClient): Promise<unknown> => client.delete(WIDGETS, REF);
const apply = (client: KubeClient): Promise<unknown> => client.apply(WIDGETS, widget('a', ''));

describe('KubeClient retries', () => {
  const failures = {
    '429': refusal(429, 'TooManyRequests'),
    '429 with Retry-After': refusal(429, 'TooManyRequests', { headers: { 'retry-after': '2' } }),
    '503 with Retry-After': refusal(503, 'ServiceUnavailable', { retryAfterSeconds: 2 }),
    '503': refusal(503, 'ServiceUnavailable'),
    '500': refusal(500, 'InternalError'),
    '504': refusal(504, 'Timeout'),
    '409': refusal(409, 'Conflict'),
    '403': refusal(403, 'Forbidden'),
    '422': refusal(422, 'Invalid'),
    'lost answer': lost,
    'not sent': notSent,
  };
  const always = ['429', '429 with Retry-After', '503 with Retry-After', 'not sent'];
  const whenIdempotent = [...always, '503', '500', '504', 'lost answer'];
  const verbs = { get, guardedPatch, apply, deleteUid, barePatch, create, deleteAny };
  const table = Object.entries(verbs).flatMap(([verb, call]) =>
    Object.entries(failures).map(([failure, given]) => {
      const idempotent = ['get', 'guardedPatch', 'apply', 'deleteUid'].includes(verb);
      return { verb, call, failure, given, again: (idempotent ? whenIdempotent : always).includes(failure) };
    }),
  );

  it.each(table)('$verb after $failure: again $again', async ({ call, given, again }) => {
    const { client, port, outcome } = make(given, answer(200, {}));
    await outcome(call(client));
    expect(port.requests).toHaveLength(again ? 2 : 1);
  });

  it('gives up after five tries, with the last answer', async () => {
    const { client, port, outcome } = make(refusal(429, 'TooManyRequests', { message: 'slow down' }));
    expect(await outcome(get(client))).toMatchObject({ status: 429, reason: 'TooManyRequests' });
    expect(port.requests).toHaveLength(5);
  });

  it('waits as long as Retry-After says', async () => {
    const { client, port, clock } = make(
      refusal(429, 'TooManyRequests', { headers: { 'retry-after': '7' } }),
      answer(200, {}),
    );
    const call = get(client);
    await clock.advance(6_999);
    expect(port.requests).toHaveLength(1);
    await clock.advance(1);
    expect(port.requests).toHaveLength(2);
    await call;
  });

  it('reports the conflict that a lost answer of a guarded patch comes back as, and that it may be its own', async () => {
    const { client, outcome } = make(lost, refusal(409, 'Conflict'));
    const error = await outcome(guardedPatch(client));
    expect(error).toBeInstanceOf(KubeApiError);
    expect(error).toMatchObject({ isConflict: true, maybeApplied: true });
    const plain = make(refusal(409, 'Conflict'));
    expect(await plain.outcome(guardedPatch(plain.client))).toMatchObject({
      isConflict: true,
      maybeApplied: false,
    });
  });

  it('stops waiting when its signal is aborted', async () => {
    const { client, clock } = make(refusal(503, 'ServiceUnavailable'));
    const controller = new AbortController();
    const call = client.get(WIDGETS, REF, { signal: controller.signal }).catch((error: unknown) => error);
    const reason = new Error('stop');
    await clock.advance(10);
    controller.abort(reason);
    expect(await call).toBe(reason);
  });
});
