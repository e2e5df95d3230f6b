import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import { KINDS } from '../../src/api/kinds.ts';
import { ROOT } from '../api/install.ts';
import { eventually } from '../support/eventually.ts';
import { ownCluster, type OwnCluster } from '../support/own-cluster.ts';
import { RealWorld } from '../support/real-world.ts';
import { HAS_HISTORY, OLDER_BUILD_TIMEOUT, olderVersion, type OlderVersion } from './older-version.ts';
import { Operators, type Version } from './operators.ts';

const PRESENT_CRDS = join(ROOT, 'crds');
/** What the examples of the older version bring, and the connection. */
const ALL = [
  ['Connection', 'main'],
  ['Box', 'runtime'],
  ['Box', 'web'],
  ['PolicyBox', 'small'],
  ['Instance', 'web-eu'],
  ['InstanceLease', 'evening'],
] as const;
/** Not by their category: kubectl remembers for hours which categories there are. */
const EVERY_KIND = KINDS.map(({ plural }) => plural).join();
/** Looks at each record until an operator counts as settled. */
const LOOKS = 2;

/** Definitions and operators are exchanged one after the other under resources that live on. */
describe.skipIf(!HAS_HISTORY)(
  'an upgrade and the way back, with live resources',
  { timeout: 240_000 },
  () => {
    let own: OwnCluster;
    let older: OlderVersion;
    let world: RealWorld;
    let operators: Operators;
    let bundled: string | undefined;

    beforeAll(async () => {
      older = await olderVersion();
      own = await ownCluster();
      const { cluster } = own;
      await installCrds(older.crds);
      world = await RealWorld.start({ cluster, idle: true, poll: { settled: '1s' } });
      bundled = mkdtempSync(join(tmpdir(), 'boxwright-present-'));
      operators = new Operators(world, { older: older.program, present: await bundle(bundled) });
    }, OLDER_BUILD_TIMEOUT);
    afterAll(async () => {
      await operators?.[Symbol.asyncDispose]();
      await world?.[Symbol.asyncDispose]();
      await own?.[Symbol.asyncDispose]();
      if (bundled !== undefined) rmSync(bundled, { recursive: true, force: true });
    });

    async function installCrds(folder: string): Promise<void> {
      await own.cluster.applyFile(folder);
      const names = KINDS.map(({ plural, group }) => `crd/${plural}.${group}`);
      const wait = await own.cluster.kubectl([
        'wait',
        '--for=condition=Established',
        '--timeout=30s',
        ...names,
      ]);
      if (wait.code !== 0) throw new Error(wait.stderr);
    }

    /**
     * Service writes that come while `version` looks at everything several times, and Kubernetes writes beyond one
     * to each status: a field that only one of the versions knows comes or goes by it. The present one seals claims
     * that are not, holds leases that an Instance names, and notes in its ConfigMap what the older one did not.
     */
    async function whileSettled(version: Version, change: () => Promise<void>): Promise<Quiet> {
      const sent = world.serviceWrites().length;
      const written = operators.writes(version).length;
      await change();
      try {
        await looks(LOOKS);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${operators.said()}\n${await world.describe()}`, {
          cause: error,
        });
      }
      return {
        service: sentAnew(version, world.serviceWrites().slice(sent)),
        kubernetes: beyondOneOfEach(operators.writes(version).slice(written).map(shown), version),
      };
    }

    /** Waits until every record was read so often, from now on. */
    async function looks(times: number): Promise<void> {
      const since = world.sandbox.admin.calls().at(-1)?.seq ?? 0;
      for (const [kind, name] of ALL) {
        const id = (await world.get(kind, name))?.status?.id;
        if (id === undefined) continue;
        await eventually(
          `${kind} ${name} is looked at`,
          () => {
            const reads = world.sandbox.admin
              .calls({ since })
              .filter(({ method, path }) => method === 'GET' && readsRecord(path, id));
            return reads.length >= times;
          },
          { timeoutMs: 120_000 },
        );
      }
    }

    async function allReady(): Promise<void> {
      for (const [kind, name] of ALL) await world.ready(kind, name, 60_000);
    }

    it('begins with the older version, on its definitions, with its examples', async () => {
      operators.start('older');
      const examples = readdirSync(older.examples)
        .filter((file) => file.endsWith('.yaml') && file !== 'connection.yaml')
        .map((file) => readFileSync(join(older.examples, file), 'utf8'));
      await world.put([world.connection(), ...examples].join('\n---\n'));
      await allReady();
      await looks(1);
      expect(world.sandbox.admin.records('instances')).toHaveLength(1);
      expect(operators.writes('older').length).toBeGreaterThan(0);
    });

    it('sends nothing when the present operator takes over on the older definitions', async () => {
      const quiet = await whileSettled('present', () => operators.exchange('present'));
      expect(quiet.service).toEqual([]);
      expect(quiet.kubernetes).toEqual([]);
      await world.edit('Box', 'web', { description: 'by the present one, on the older definitions' });
      await world.ready('Box', 'web', 60_000);
      expect(descriptions(world)).toContain('by the present one, on the older definitions');
      // The instance hears of it, too: nothing of this is to be counted later.
      await world.condition('Instance', 'web-eu', { type: 'UpdateAvailable', status: 'True' }, 60_000);
    });

    it('sends nothing when the present definitions come, and then does what they allow', async () => {
      const quiet = await whileSettled('present', () => installCrds(PRESENT_CRDS));
      expect(quiet).toEqual({ service: [], kubernetes: [] });
      await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
      await world.ready('Instance', 'web-eu', 60_000);
      expect(await world.get('Instance', 'web-eu')).toMatchObject({ status: { phase: 'ShutDown' } });
    });

    it('sends nothing when the older operator comes back to the present definitions', async () => {
      const quiet = await whileSettled('older', () => operators.exchange('older'));
      expect(quiet).toEqual({ service: [], kubernetes: [] });
      await world.edit('Instance', 'web-eu', { powerState: 'Running' });
      await world.ready('Instance', 'web-eu', 60_000);
      expect(await world.get('Instance', 'web-eu')).toMatchObject({ status: { phase: 'Online' } });
    });

    it('sends nothing when the older definitions come back too', async () => {
      const quiet = await whileSettled('older', () => installCrds(older.crds));
      expect(quiet).toEqual({ service: [], kubernetes: [] });
      await world.edit('Box', 'web', { description: 'by the older one again' });
      await world.ready('Box', 'web', 60_000);
      expect(descriptions(world)).toContain('by the older one again');
    });

    it.each([
      ['present', 'stop'],
      ['older', 'kill'],
      ['present', 'kill'],
    ] as const)('lets the %s version end what the other has begun, after a %s', async (version, how) => {
      const sent = world.serviceWrites().length;
      world.sandbox.admin.setDurations({ reinstall: 3_000 });
      await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': `${version} ${how}` });
      await eventually('the service reinstalls', () => world.serviceWrites().length > sent);
      await operators.exchange(version, how);
      await eventually(
        'it has ended',
        async () => {
          const { status } = (await world.get('Instance', 'web-eu')) ?? {};
          const handled = status?.['handledRequests'] as { reinstall?: string } | undefined;
          return handled?.reinstall === `${version} ${how}`;
        },
        { timeoutMs: 120_000 },
      );
      await world.ready('Instance', 'web-eu', 60_000);
      expect(sentAnew(version, world.serviceWrites().slice(sent))).toHaveLength(1);
      expect(await world.get('Instance', 'web-eu')).toMatchObject({
        status: { lastOperation: { event: 'reinstall', outcome: 'Succeeded' } },
      });
    });

    it.each(['older', 'present'] as const)(
      'has one leader at a time while the %s version is rolled out beside the other, and sends nothing',
      async (version) => {
        const since = own.cluster.auditLog().length;
        const quiet = await whileSettled(version, () => operators.roll(version));
        expect(quiet).toEqual({ service: [], kubernetes: [] });
        const changes = operators.leaders(since).filter((one, at, all) => one !== all[at - 1]);
        expect(changes).toEqual([version === 'older' ? 'present' : 'older', version]);
      },
    );

    it('ends with everything deleted by the present version on the older definitions', async () => {
      const { code, stderr } = await world.kubectl('delete', EVERY_KIND, '--all', '--timeout=60s');
      expect(stderr).toBe('');
      expect(code).toBe(0);
      expect(world.sandbox.admin.records('instances')).toEqual([]);
      expect(world.sandbox.admin.records('boxes')).toEqual([]);
    });
  },
);

interface Quiet {
  service: readonly { method: string; path: string }[];
  kubernetes: string[];
}

function beyondOneOfEach(writes: readonly string[], version: Version): string[] {
  // The older one says in status how it sends once more what it cannot compare.
  if (version === 'older') return writes.filter((write) => !write.endsWith(' status'));
  const mayCome = / status$|^patch (boxes|policyboxes|instances|instanceleases|configmaps)\//;
  return writes.filter((write, at) => !mayCome.test(write) || writes.indexOf(write) !== at);
}

/**
 * The older version cannot compare the hashes that the present one has noted, as if their key were lost: it uploads
 * and puts each content once more, and runs no operation.
 */
function sentAnew<W extends { method: string; path: string }>(version: Version, writes: readonly W[]): W[] {
  const isContent = ({ method, path }: W): boolean =>
    method === 'PUT' && /^\/services\/(boxes|instances)\/[^/]+$/.test(path);
  const isFirst = ({ path }: W, at: number): boolean => writes.findIndex((one) => one.path === path) === at;
  const isAnew = (write: W, at: number): boolean =>
    (isContent(write) && isFirst(write, at)) || write.path.startsWith('/services/blobs/upload/');
  return writes.filter((write, at) => version !== 'older' || !isAnew(write, at));
}

function shown(event: {
  verb: string;
  objectRef?: { resource?: string; subresource?: string; name?: string };
}): string {
  const { resource = '', subresource = '', name = '' } = event.objectRef ?? {};
  return `${event.verb} ${resource}/${name} ${subresource}`.trim();
}

/** A single read of it, or a list that holds it. */
function readsRecord(path: string, id: string): boolean {
  return path.includes(id) || /\/(boxes|instances)(\?|$)/.test(path);
}

function descriptions(world: RealWorld): unknown[] {
  return world.sandbox.admin.records('boxes').map((box) => (box as { description?: string }).description);
}
