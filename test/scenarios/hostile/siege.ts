import * as fc from 'fast-check';
import { ANNOTATIONS, FINALIZER } from '../../../src/api/names.ts';
import { markerOf } from '../../../src/controllers/record/identity/marker.ts';
import { KubeApiError } from '../../../src/kube/index.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { CONNECTION, ENDPOINT, NAMESPACE, typeOfKind, World, type Shown } from '../../support/world.ts';
import { BOXES, HOUR, instance, MINUTE } from '../shop.ts';
import { attacks, KINDS, type Attack, type Deed, type Forged, type Kind, type Source } from './author.ts';

const AUTHORS = 'default';
const EVIL = 'https://evil.test';
/** What nobody outside of the victim's namespace may ever see. */
const SECRET = 'the-victims-own-password';
const VICTIMS = { Box: 'web', PolicyBox: 'small', Instance: 'web-eu' } as const;
/** So many attacks are made on one victim, all of them there at once. */
const AT_ONCE = 20;

const VICTIMS_SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: ${SECRET}}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: ${AUTHORS}}
stringData: {password: an-authors-guess}
`;
const VARIABLES =
  '  variables: [{name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}]\n';

/** What was found, in words; empty is what is hoped for. */
export interface Siege {
  attacks: number;
  harm: string[];
}

/** Makes so many attacks, and says what of the victim's they have touched. */
export async function besiege(count: number, seed: number): Promise<Siege> {
  const all = fc.sample(attacks, { numRuns: count, seed });
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const few = all.slice(from, from + AT_ONCE);
    const harm = await siege(few);
    if (harm.length > 0) return { attacks: from + few.length, harm: await smallest(few, harm) };
  }
  return { attacks: all.length, harm: [] };
}

/** The one attack that does it, where there is one. */
async function smallest(few: readonly Attack[], harm: string[]): Promise<string[]> {
  for (const attack of few) {
    const alone = await siege([attack]);
    if (alone.length > 0) return [JSON.stringify(attack), ...alone];
  }
  return [...few.map((attack) => JSON.stringify(attack)), ...harm];
}

async function siege(few: readonly Attack[]): Promise<string[]> {
  const town = await Town.open();
  try {
    for (const [at, attack] of few.entries()) {
      await town.attacked(attack, `a${at}`);
      const harm = town.harm();
      if (harm.length > 0) return harm.map((line) => `attack ${at}: ${line}`);
    }
    await town.world.advance(HOUR);
    const harm = town.harm();
    if (harm.length > 0) return harm;
    return [...(await town.robbed()), ...(await town.held()), ...town.objections()];
  } finally {
    await town.close();
  }
}

/** A victim in one namespace, and an author in another. */
class Town {
  readonly world: World;
  readonly #evil: Sandbox;
  /** Ids of records on the evil service, and of the victim's, which it calls them by. */
  readonly #aliases: [string, string][] = [];
  #before: string[] = [];
  #mark = 0;
  #events = 0;
  /** Everything that the evil service was sent. */
  #sent = '';
  /** All annotations that an object of the author's ever had. */
  readonly #had = new Map<string, Record<string, string>>();

  private constructor() {
    this.#evil = createSandbox({
      random: () => 0.3,
      data: ':memory:',
      account: { email: 'evil@example.com', password: 'secret-password', token: 'token-of-evil' },
      teams: ['shop'],
    });
    const { admin } = this.#evil;
    this.world = new World({
      others: { [EVIL]: { handle: (request: never) => this.#answer(request), admin } as unknown as Sandbox },
    });
  }

  static async open(): Promise<Town> {
    const town = new Town();
    const { world } = town;
    // It tells records apart by their ids alone, and the evil service calls its own by those of the victim's.
    world.judges.excuse('own records');
    world.start();
    await world.apply(VICTIMS_SECRET);
    await world.apply(CONNECTION);
    await world.apply(BOXES);
    await world.apply(instance(VARIABLES));
    await world.apply(CONNECTION.replaceAll('metadata: {', `metadata: {namespace: ${AUTHORS}, `));
    const spelt = CONNECTION.replace('metadata: {name: main', 'metadata: {name: spelt').replace(
      ENDPOINT,
      'https://%73ervice.Test.:443/.',
    );
    await world.apply(spelt.replaceAll('metadata: {', `metadata: {namespace: ${AUTHORS}, `));
    const evil = CONNECTION.replaceAll('metadata: {name: main', 'metadata: {name: evil')
      .replaceAll('deploy-login', 'evil-login')
      .replace('token-of-ops', 'token-of-evil')
      .replace(/endpoint: .*/, `endpoint: ${EVIL}`);
    await world.apply(evil.replaceAll('metadata: {', `metadata: {namespace: ${AUTHORS}, `));
    await world.until(() => world.ready('Instance', 'web-eu') === 'True', 3 * HOUR);
    await world.advance(HOUR);
    const { admin } = world.sandbox;
    town.#mark = admin.calls().at(-1)?.seq ?? 0;
    town.#events = world.events.length;
    town.#before = town.#shown();
    return town;
  }

  async close(): Promise<void> {
    this.world.kill();
    this.world.judges.end();
    await this.world.sandbox.stop();
    await this.#evil.stop();
  }

  objections(): string[] {
    return this.world.judges.said().filter((line) => line.includes(`${NAMESPACE}/`));
  }

  async attacked(attack: Attack, name: string): Promise<void> {
    await this.#create(attack, name, this.#annotations(attack, name, attack.forged));
    await this.world.advance(30_000);
    for (const deed of attack.deeds) await this.#done(attack, name, deed);
    await this.world.advance(2 * MINUTE);
  }

  /** What of the victim's is not as it was. */
  harm(): string[] {
    const { admin } = this.world.sandbox;
    const ids = KINDS.map((kind) => this.#victim(kind).status?.id ?? '');
    const calls = admin
      .calls({ since: this.#mark })
      .filter(({ method, path }) => method !== 'GET' && ids.some((id) => path.includes(id)))
      .map(({ method, path }) => `${method} ${path}`);
    const now = this.#shown();
    const changed = now.filter((line, at) => line !== this.#before[at]);
    const told = this.world.events
      .slice(this.#events)
      .filter(({ regarding }) => regarding.namespace === NAMESPACE)
      .map((event) => JSON.stringify(event));
    const leaks = [...this.#ofAuthor(), this.#sent].filter((text) => text.includes(SECRET));
    return [...calls, ...changed, ...told, ...leaks.map((text) => `a secret is in ${text}`)];
  }

  /** What of the victim's is lost when it comes back from a backup, without status, while all the others are there. */
  async robbed(): Promise<string[]> {
    const { world } = this;
    const before = KINDS.map((kind) => [kind, this.#victim(kind)] as const);
    world.kill();
    for (const [kind, { status: _status, ...victim }] of before) {
      const metadata = { ...victim.metadata, namespace: NAMESPACE, uid: `restored-${victim.metadata.uid}` };
      world.kube.purge(typeOfKind(kind), metadata);
      world.kube.seed(typeOfKind(kind), { ...victim, metadata });
    }
    world.start();
    const isBack = ([kind, { status }]: (typeof before)[number]): boolean => {
      return this.#victim(kind).status?.id === status?.id && world.ready(kind, VICTIMS[kind]) === 'True';
    };
    try {
      await world.until(() => before.every(isBack), HOUR);
      return [];
    } catch (error) {
      return [`not restored: ${(error as Error).message}`];
    }
  }

  /** What stays when the victim's resources are deleted while all the others are there. */
  async held(): Promise<string[]> {
    const { world } = this;
    const ids = new Map(KINDS.map((kind) => [kind, this.#victim(kind).status?.id ?? '']));
    for (const kind of ['Instance', 'Box', 'PolicyBox'] as const) {
      await world.delete(kind, VICTIMS[kind]);
      try {
        await world.until(() => world.get(kind, VICTIMS[kind]) === undefined, HOUR);
      } catch (error) {
        return [`${kind} stays: ${(error as Error).message}`];
      }
    }
    const left = [...world.sandbox.admin.records('boxes'), ...world.sandbox.admin.records('instances')];
    return [...ids]
      .filter(([, id]) => left.some((record) => record['id'] === id))
      .map(([kind]) => `the record of ${kind} stays`);
  }

  #victim(kind: Kind): Shown {
    return this.world.get(kind, VICTIMS[kind]) as Shown;
  }

  #own(kind: Kind, name: string): Shown | undefined {
    return this.world.kube.get(typeOfKind(kind), { namespace: AUTHORS, name }) as unknown as
      Shown | undefined;
  }

  #shown(): string[] {
    const { admin } = this.world.sandbox;
    const records = [...admin.records('boxes'), ...admin.records('instances')];
    return KINDS.flatMap((kind) => {
      const victim = this.#victim(kind);
      return [
        `${kind}: ${JSON.stringify(victim)}`,
        `record of ${kind}: ${JSON.stringify(records.find(({ id }) => id === victim.status?.id))}`,
      ];
    });
  }

  *#ofAuthor(): Iterable<string> {
    for (const kind of KINDS) {
      for (const object of this.world.kube.list(typeOfKind(kind))) {
        if (object.metadata.namespace === AUTHORS) yield JSON.stringify(object);
      }
    }
    for (const event of this.world.events)
      if (event.regarding.namespace === AUTHORS) yield JSON.stringify(event);
  }

  async #create(
    { kind, older, connection, finalizer, spec, namesIds }: Attack,
    name: string,
    annotations: object,
  ): Promise<void> {
    const { spec: model } = this.#victim(kind);
    const { boxRef: _box, policyBoxRef: _policyBox, ...rest } = model;
    // What refers to a record of the victim's on its own service is the service's to judge.
    const isApart = namesIds && connection === 'absent';
    const refers = isApart
      ? { boxId: this.#victim('Box').status?.id, policyBoxId: this.#victim('PolicyBox').status?.id }
      : { boxRef: { name: 'web' }, policyBoxRef: { name: 'small' } };
    const nests =
      isApart && kind === 'Box'
        ? { variables: [{ name: 'x', type: 'Box', boxId: this.#victim('Box').status?.id }] }
        : {};
    await this.#tried(async () => {
      const type = typeOfKind(kind);
      const object = {
        apiVersion: 'boxwright.dev/v1alpha1',
        kind,
        metadata: {
          name,
          namespace: AUTHORS,
          annotations,
          ...(finalizer ? { finalizers: [FINALIZER] } : {}),
        },
        spec: {
          ...rest,
          ...nests,
          ...(kind === 'Instance' ? refers : {}),
          ...spec,
          connectionRef: { name: connection },
        },
      };
      await this.world.user.create(type, object);
      if (!older) return;
      // It was there before the victim.
      const made = this.world.kube.get(type, object.metadata) as unknown as { metadata: object };
      const metadata = {
        ...made.metadata,
        name,
        namespace: AUTHORS,
        creationTimestamp: '2025-01-01T00:00:00Z',
      };
      this.world.kube.seed(type, { ...made, metadata });
    });
  }

  async #done(attack: Attack, name: string, deed: Deed): Promise<void> {
    const { kind } = attack;
    const type = typeOfKind(kind);
    const ref = { namespace: AUTHORS, name };
    const write = (body: object): Promise<void> =>
      this.#tried(async () => void (await this.world.user.mergePatch(type, ref, body)));
    const own = this.#own(kind, name);
    this.#had.set(name, { ...this.#had.get(name), ...own?.metadata.annotations });
    switch (deed.do) {
      case 'annotate':
        return write({ metadata: { annotations: this.#annotations(attack, name, deed.with) } });
      case 'wipe annotations':
        return write({ metadata: { annotations: null } });
      case 'copy metadata': {
        const { annotations, finalizers } = this.#victim(kind).metadata;
        return write({ metadata: { annotations, finalizers } });
      }
      case 'edit':
        return write({ spec: deed.spec });
      case 'finalizers': {
        const finalizers = [...(deed.ours ? [FINALIZER] : []), ...(deed.theirs ? ['example.com/hold'] : [])];
        return write({ metadata: { finalizers } });
      }
      case 'delete':
        return this.#tried(() => this.world.user.delete(type, ref));
      case 'recreate':
        await this.#tried(() => this.world.user.delete(type, ref));
        await this.world.advance(MINUTE);
        await write({ metadata: { finalizers: null } });
        return this.#create({ ...attack, older: deed.older }, name, this.#had.get(name) ?? {});
      case 'connect':
        return write({ spec: { connectionRef: { name: deed.to } } });
      case 'wait':
        return this.world.advance(deed.seconds * 1_000);
      case 'restart the operator':
        this.world.kill();
        this.world.start();
        return undefined;
      default:
        return deed satisfies never;
    }
  }

  /** What the API server refuses is an attack that has failed. */
  async #tried(attempt: () => Promise<unknown>): Promise<void> {
    try {
      await attempt();
    } catch (error) {
      if (!(error instanceof KubeApiError) || error.status >= 500) throw error;
    }
  }

  #annotations({ kind }: Attack, name: string, wants: Forged): Record<string, string> {
    const victim = this.#victim(kind);
    const theirs = victim.metadata.annotations ?? {};
    const had = { ...this.#had.get(name), ...this.#own(kind, name)?.metadata.annotations };
    const [installation = ''] = (theirs[ANNOTATIONS.claim] ?? '').split('/');
    const marker = (of: string, namespace: string): string =>
      markerOf(installation, { kind, namespace, name: of });
    const uid = (source: Source): string =>
      sourced(source, this.#own(kind, name)?.metadata.uid ?? '', victim.metadata.uid);
    const id = (source: string): string =>
      sourced(source, had[ANNOTATIONS.externalId] ?? '', victim.status?.id ?? '');
    const out: Record<string, string> = {};
    if (wants.externalId !== undefined) out[ANNOTATIONS.externalId] = id(wants.externalId);
    if (typeof wants.claim === 'string') out[ANNOTATIONS.claim] = wants.claim;
    else if (wants.claim !== undefined) {
      const { installation: whose, marker: which, uid: whom } = wants.claim;
      out[ANNOTATIONS.claim] = [
        whose === 'own' ? installation : 'other',
        sourced(which, marker(name, AUTHORS), marker(VICTIMS[kind], NAMESPACE)),
        uid(whom),
      ].join('/');
    }
    if (wants.claimSeal !== undefined) {
      const seal = theirs[ANNOTATIONS.claimSeal] ?? '';
      // A key that nobody has.
      const unreadable = `aaaaaaaa${seal.slice(8)}`;
      out[ANNOTATIONS.claimSeal] =
        wants.claimSeal === 'other'
          ? unreadable
          : sourced(wants.claimSeal, had[ANNOTATIONS.claimSeal] ?? '', seal);
    }
    if (typeof wants.createIntent === 'string') out[ANNOTATIONS.createIntent] = wants.createIntent;
    else if (wants.createIntent !== undefined) {
      const { skip, at, uid: whom } = wants.createIntent;
      out[ANNOTATIONS.createIntent] = JSON.stringify({ at, try: 1, skip: [id(skip)], uid: uid(whom) });
    }
    if (wants.deployedLease !== undefined) out[ANNOTATIONS.deployedLease] = wants.deployedLease;
    if (wants.adopt !== undefined) out[ANNOTATIONS.adopt] = id(wants.adopt);
    if (wants.asks !== undefined) out[ANNOTATIONS[wants.asks]] = 'once';
    return out;
  }

  /** A service of the author's own that calls its records by the ids of the victim's. */
  async #answer(request: {
    method: string;
    path: string;
    headers: object;
    body?: Uint8Array;
  }): Promise<unknown> {
    const text = Buffer.from(request.body ?? []).toString();
    this.#sent += text;
    const inwards = (given: string): string =>
      this.#aliases.reduce((out, [own, alias]) => out.replaceAll(alias, own), given);
    const answer = await this.#evil.handle({
      ...request,
      path: inwards(request.path),
      body: Buffer.from(inwards(text)),
    } as never);
    const body = Buffer.from((answer as { body?: Uint8Array }).body ?? []).toString();
    const made = request.method === 'POST' ? /"id":\s*"([^"]+)"/.exec(body)?.[1] : undefined;
    if (made !== undefined && /^\/services\/(boxes|instances)$/.test(request.path)) {
      const kind = request.path.endsWith('instances')
        ? 'Instance'
        : this.#aliases.length % 2 === 0
          ? 'Box'
          : 'PolicyBox';
      const id = this.#victim(kind).status?.id;
      if (id !== undefined && !this.#aliases.some(([, alias]) => alias === id))
        this.#aliases.push([made, id]);
    }
    const outwards = this.#aliases.reduce((out, [own, alias]) => out.replaceAll(own, alias), body);
    return { ...answer, body: Buffer.from(outwards) };
  }
}

/** A part of what is written, by where it comes from; a text of the author's own stands for itself. */
function sourced(source: string, own: string, victims: string): string {
  switch (source as Source) {
    case 'own':
      return own;
    case 'victim':
      return victims;
    case 'dead':
      return '00000000-dead-4000-8000-000000000000';
    case 'nothing':
      return '';
    default:
      return source;
  }
}
