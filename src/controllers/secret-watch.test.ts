import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger, type Logger } from '../base/logger.ts';
import { settle, VirtualClock } from '../base/virtual-clock.ts';
import { METADATA_ONLY, type ReflectorNotice } from '../kube/index.ts';
import { listAnswer, refusal, ScriptedPort, ScriptedWatch } from '../../test/support/scripted-port.ts';
import { SecretWatch } from './secret-watch.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const secret = (name: string, resourceVersion: string, namespace = 'shop', more: object = {}): object => ({
  metadata: { name, namespace, uid: `uid of ${name}`, resourceVersion, ...more },
});

function make(namespaces?: readonly string[]) {
  const clock = new VirtualClock();
  const port = new ScriptedPort();
  const told: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const notices: ReflectorNotice[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (fields, message) => told.push({ level: 'info', fields: { ...fields }, message }),
    error: (fields, message) => told.push({ level: 'error', fields: { ...fields }, message }),
  };
  port.onRequest = () => listAnswer('10', [secret('db', '5')]);
  const watch = new SecretWatch({
    port,
    clock,
    random: () => 0.5,
    log,
    ...(namespaces === undefined ? {} : { namespaces }),
    onNotice: (notice) => notices.push(notice),
  });
  const heard: string[] = [];
  watch.onChange((namespace, name) => heard.push(`${namespace}/${name}`));
  const start = async (): Promise<void> => {
    const controller = new AbortController();
    const running = watch.start(controller.signal);
    stops.push(async () => {
      controller.abort(new Error('test over'));
      await running;
    });
    await settle();
  };
  return { clock, port, watch, told, notices, heard, start };
}

describe('following Secrets', () => {
  it('asks for metadata alone, and tells of each that is made, changed or deleted', async () => {
    const { port, watch, heard, start } = make();
    expect(watch.follows('shop')).toBe(false);
    await start();
    await watch.synced;
    expect(port.requests.map(({ path, accept }) => [path, accept])).toEqual([
      ['/api/v1/secrets', METADATA_ONLY.list],
    ]);
    expect(port.watchRequests[0]?.accept).toBe(METADATA_ONLY.object);
    port.current.push('MODIFIED', secret('db', '11'));
    port.current.push('ADDED', secret('new', '12', 'bank'));
    port.current.push('DELETED', secret('db', '13'));
    await settle();
    expect(heard).toEqual(['shop/db', 'shop/db', 'bank/new', 'shop/db']);
    expect(watch.follows('shop')).toBe(true);
    expect(watch.problem()).toBeUndefined();
  });

  it('follows the namespaces that it is given, each by itself, and no other', async () => {
    const { port, watch, start } = make(['shop', 'bank', 'shop']);
    await start();
    expect(port.requests.map(({ path }) => path)).toEqual([
      '/api/v1/namespaces/shop/secrets',
      '/api/v1/namespaces/bank/secrets',
    ]);
    expect([watch.follows('shop'), watch.follows('bank'), watch.follows('other')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('keeps nothing of a Secret but name, uid and version: annotations may hold its content', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { port, start } = make();
    const kept: WeakRef<object>[] = [];
    const large = (name: string, version: string): object => {
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{}}' };
      kept.push(new WeakRef(annotations));
      return secret(name, version, 'shop', { annotations, labels: { a: 'b' } });
    };
    port.onRequest = () => listAnswer('10', [large('db', '5'), large('other', '6')]);
    await start();
    port.current.push('MODIFIED', large('db', '11'));
    // The line that came last is at hand until the next; and the port of the tests keeps what it was asked.
    port.current.push('MODIFIED', secret('other', '12'));
    await settle();
    port.requests.length = 0;
    collect();
    expect(kept.map((each) => each.deref())).toEqual([undefined, undefined, undefined]);
  });
});

describe('without the right to list Secrets', () => {
  it('is no reason not to start: it is said once, and tried again', async () => {
    const { clock, port, watch, told, notices, start } = make(['shop']);
    port.onRequest = () => refusal(403, 'Forbidden');
    await start();
    await watch.synced;
    expect(watch.hasSynced).toBe(true);
    expect(watch.follows('shop')).toBe(false);
    await clock.advance(120_000);
    expect(port.requests.length).toBeGreaterThan(4);
    expect(told).toEqual([
      {
        level: 'error',
        fields: {
          namespace: 'shop',
          flag: '--watch-secrets',
          rights: 'list and watch on secrets',
          refused: 'list',
        },
        message: expect.stringContaining('not followed'),
      },
    ]);
    expect(notices.filter(({ kind }) => kind === 'error')).toEqual([]);
    expect(watch.problem()).toBe(
      'the operator may not list Secrets in namespace "shop": grant list and watch on secrets, or switch ' +
        '--watch-secrets off; until then a changed Secret is noticed within 5 minutes',
    );

    port.onRequest = () => listAnswer('10', [secret('db', '5')]);
    await clock.advance(40_000);
    expect(watch.follows('shop')).toBe(true);
    expect(watch.problem()).toBeUndefined();
    expect(told.at(-1)).toMatchObject({ level: 'info', message: 'Secrets are followed' });
  });

  it('in one namespace, the others are followed', async () => {
    const { port, watch, start } = make(['shop', 'bank', 'mill']);
    port.onRequest = ({ path }) =>
      path.includes('/shop/') ? listAnswer('10', []) : refusal(403, 'Forbidden');
    await start();
    expect([watch.follows('shop'), watch.follows('bank')]).toEqual([true, false]);
    expect(watch.problem()).toContain('may not list Secrets in namespace "bank" and 1 more:');
  });
});

describe('without the right to watch them', () => {
  it('is said once, though lists go on being answered', async () => {
    const { clock, port, watch, told, start } = make();
    port.onWatch = () => new ScriptedWatch(refusal(403, 'Forbidden'));
    await start();
    await watch.synced;
    await clock.advance(300_000);
    expect(port.requests.length).toBeGreaterThan(1);
    expect(watch.follows('shop')).toBe(false);
    expect(told.map(({ level, fields }) => [level, fields['refused']])).toEqual([['error', 'watch']]);
    expect(watch.problem()).toContain('may not watch Secrets of the cluster');
    port.onWatch = () => new ScriptedWatch();
    await clock.advance(60_000);
    expect(watch.follows('shop')).toBe(true);
  });
});

it('an API server that cannot be reached is waited for, as for every kind', async () => {
  const { clock, port, watch, told, notices, start } = make();
  port.onRequest = () => refusal(500, 'InternalError');
  await start();
  expect(watch.hasSynced).toBe(false);
  expect(told).toEqual([]);
  expect(notices).toContainEqual(expect.objectContaining({ kind: 'error', during: 'list' }));
  port.onRequest = () => listAnswer('10', []);
  await clock.advance(40_000);
  expect(watch.hasSynced).toBe(true);
});
