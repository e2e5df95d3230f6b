import { parseRfc3339, rfc3339 } from '../../base/rfc3339.ts';
import type { InstanceLease, LeaseTerms } from '../../api/instance-lease.ts';
import type { Instance } from '../../api/instance.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { parseDuration } from '../../base/duration.ts';
import { Schedules } from '../../base/weekly.ts';
import type { ReconcileContext, Result } from '../../kube/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import type { OperatorContext } from '../context.ts';
import { isKept, operationOf, termsHash, unknownZone } from '../instance/index.ts';
import { Attempts } from '../record/attempts.ts';
import { holding, isHeld, lettingGo, patchMetadata } from '../record/metadata.ts';
import { LeaseChoices } from './choices.ts';
import { PassGuard } from '../record/pass-guard.ts';
import { isPaused } from '../record/policies.ts';
import { inUse } from '../record/status/in-use.ts';
import { problemsVerdict } from '../record/status/problems.ts';
import { StatusWriter } from '../record/status/writer.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';

type Context = Pick<
  OperatorContext,
  'clock' | 'installation' | 'kube' | 'log' | 'random' | 'recorder' | 'secrets'
>;

/**
 * Says how a lease stands: which instance has it, until when, and whether it was carried out. Writes nothing to
 * the service: the Instance controller puts the lease on the record. A lease that an Instance names by leaseRef is not
 * deleted before that Instance has let go of it.
 */
export class InstanceLeaseReconciler {
  readonly #context: Context;
  readonly #clock: OperatorContext['clock'];
  readonly #leases: KindCache<InstanceLease>;
  readonly #instances: KindCache<Instance>;
  readonly #status: StatusWriter<Cached<InstanceLease>>;
  readonly #guard: PassGuard<Cached<InstanceLease>>;
  readonly #choices: LeaseChoices;
  readonly #schedules = new Schedules();
  /** By key; a new uid starts anew. */
  readonly #attempts = new Map<string, { uid: string; attempts: Attempts }>();

  constructor(options: {
    context: Context;
    leases: KindCache<InstanceLease>;
    instances: KindCache<Instance>;
  }) {
    this.#context = options.context;
    this.#clock = options.context.clock;
    this.#leases = options.leases;
    this.#instances = options.instances;
    this.#choices = new LeaseChoices(options.leases, options.instances);
    const { type } = options.leases.informer;
    this.#status = new StatusWriter(options.context, type, options.leases);
    this.#guard = new PassGuard(options.context, type, this.#status);
  }

  async reconcile(key: string, run: ReconcileContext): Promise<Result> {
    const lease = this.#leases.get(key);
    if (lease === undefined || (isDeleting(lease) && !isHeld(lease.metadata))) {
      this.#attempts.delete(key);
      return {};
    }
    const { attempts } = this.#memory(key, lease.metadata.uid);
    attempts.wish(lease.metadata.annotations?.[ANNOTATIONS.requestedAt], lease.status.lastHandledRequest);
    return this.#guard.run(lease, attempts, run, async () => {
      const users = this.#users(lease);
      if (await this.#hold(lease, users, run)) return {};
      const found = isDeleting(lease)
        ? { verdict: this.#heldBack(users), fields: {} }
        : lease.problems === undefined
          ? this.#look(lease)
          : { verdict: problemsVerdict(lease.problems), fields: {} };
      await this.#status.write(lease, found, run.signal);
      return found.verdict.recheckAfterMs === undefined
        ? {}
        : { requeueAfterMs: found.verdict.recheckAfterMs };
    });
  }

  /** Instances that name it by leaseRef. */
  #named({ metadata: { namespace, name } }: InstanceLease): Cached<Instance>[] {
    return this.#instances.referrers('InstanceLease', namespace, name);
  }

  /** Those of them that have it, or may have been deployed with it. */
  #users(lease: Cached<InstanceLease>): string[] {
    // Which instance a lease is for that does not fit its schema, nobody can tell.
    const isFor = (name: string): boolean =>
      lease.problems !== undefined || lease.spec.instanceRef.name === name;
    const mayHave = ({ metadata, status }: Instance): boolean =>
      status.id === undefined && isHeld(metadata) && isFor(metadata.name);
    return this.#named(lease)
      .filter((instance) => isKept(instance, lease) || mayHave(instance))
      .map(({ metadata }) => `Instance/${metadata.name}`)
      .toSorted();
  }

  /** Takes hold of a lease that is named, and lets go of one that is deleted and not used. Answers whether it goes. */
  async #hold(
    lease: Cached<InstanceLease>,
    users: readonly string[],
    { signal }: ReconcileContext,
  ): Promise<boolean> {
    const { metadata } = lease;
    const isDeleted = isDeleting(lease);
    if (isDeleted ? users.length > 0 : isHeld(metadata) || this.#named(lease).length === 0) return false;
    const { installation, kube } = this.#context;
    if (installation.unconfirmed !== undefined) return false;
    const { type } = this.#leases.informer;
    const remember = (raw: object): void => this.#leases.remember(raw);
    await patchMetadata(kube, type, { metadata }, isDeleted ? lettingGo(metadata) : holding(metadata), {
      signal,
      remember,
    });
    return isDeleted;
  }

  #heldBack(users: readonly string[]): Verdict {
    const { unconfirmed } = this.#context.installation;
    if (unconfirmed !== undefined) return verdict('Conflict', unconfirmed);
    return inUse(users, undefined, ', or remove their spec.leaseRef');
  }

  #memory(key: string, uid: string): { uid: string; attempts: Attempts } {
    const known = this.#attempts.get(key);
    if (known?.uid === uid) return known;
    const { clock, random } = this.#context;
    const fresh = { uid, attempts: new Attempts(clock, random) };
    this.#attempts.set(key, fresh);
    return fresh;
  }

  #look(lease: InstanceLease): { verdict: Verdict; fields: Partial<InstanceLease['status']> } {
    const { namespace } = lease.metadata;
    const name = lease.spec.instanceRef.name;
    const instance = this.#instances.get(`${namespace}/${name}`);
    if (instance === undefined || instance.problems !== undefined) {
      const why = instance === undefined ? 'does not exist' : 'does not fit its schema';
      return {
        verdict: verdict('WaitingForReference', `spec.instanceRef: Instance "${name}" ${why}`),
        fields: { instances: undefined as never, expireAt: undefined as never },
      };
    }
    const conflict = this.#conflict(lease, instance);
    if (conflict !== undefined) {
      const extra: ExtraCondition[] = [{ type: 'Conflict', reason: 'Conflict', message: conflict }];
      return { verdict: { ...verdict('Conflict', conflict), extra }, fields: {} };
    }
    return this.#standing(lease, instance);
  }

  #conflict(lease: InstanceLease, instance: Cached<Instance>): string | undefined {
    const chosen = this.#choices.of(instance);
    if (chosen.kind !== 'source' || chosen.source.uid === lease.metadata.uid) return undefined;
    const { name } = instance.metadata;
    return chosen.source.kind === 'Instance'
      ? `Instance "${name}" has a spec.lease: take one of the two away`
      : `Instance "${name}" has the lease "${chosen.source.name}" already: delete one of the two`;
  }

  #standing(
    lease: InstanceLease,
    instance: Cached<Instance>,
  ): { verdict: Verdict; fields: Partial<InstanceLease['status']> } {
    const renew = lease.metadata.annotations?.[ANNOTATIONS.renew];
    const paused = isPaused(lease);
    const { schedule } = lease.spec;
    if (schedule !== undefined && this.#schedules.at(schedule, this.#clock.now()) === undefined) {
      const message = unknownZone(lease.metadata.name, schedule.timeZone);
      return { verdict: verdict('NotSupported', message), fields: { nextChange: undefined as never } };
    }
    const terms = termsHash({
      kind: 'InstanceLease',
      name: lease.metadata.name,
      uid: lease.metadata.uid,
      deletionPolicy: lease.spec.deletionPolicy ?? 'Delete',
      terms: lease.spec,
      renew,
      paused,
      warnBefore: lease.spec.warnBefore,
    });
    const shown = instance.status.lease;
    const source = shown?.source;
    const { name } = instance.metadata;
    if (source?.uid !== lease.metadata.uid || source.terms !== terms) {
      if (paused) {
        return {
          verdict: verdict('Paused', 'Paused: the lease on the instance is left as it is'),
          fields: {},
        };
      }
      const past =
        lease.spec.expireAt !== undefined && parseRfc3339(lease.spec.expireAt) <= this.#clock.now();
      if (past) {
        const message =
          'spec.expireAt is in the past, so the lease is not put on the instance: set a later time';
        return { verdict: verdict('Refused', message), fields: {} };
      }
      return { verdict: verdict('WaitingForReference', untaken(instance)), fields: {} };
    }
    const { id } = instance.status;
    const onRecord = shown?.expire === source.expire && shown?.operation === operationOf(lease.spec);
    const fields: Partial<InstanceLease['status']> = {
      expireAt: source.expire as string,
      wanted: terms,
      handledRenew: renew as string,
      instances: [
        {
          name,
          ...(id === undefined ? {} : { id }),
          ...(source.expire === undefined ? {} : { expire: source.expire }),
          operation: lease.spec.operation,
          released: shown?.released === true,
          ...(shown?.by === undefined ? {} : { by: shown.by }),
        },
      ],
    };
    if (shown?.released === true && source.expire !== undefined) {
      return {
        verdict: verdict('LeaseReleased', 'The lease has ended and was carried out'),
        fields: { ...fields, nextChange: undefined as never },
      };
    }
    if (!onRecord && shown?.by !== 'Operator') {
      const message = `Waits until the lease stands on the record of Instance "${name}"`;
      return { verdict: verdict('WaitingForReference', message), fields };
    }
    if (schedule !== undefined) return this.#scheduled(lease, schedule, fields);
    return this.#warning(lease, source.expire, fields);
  }

  #scheduled(
    lease: InstanceLease,
    schedule: NonNullable<LeaseTerms['schedule']>,
    fields: Partial<InstanceLease['status']>,
  ): { verdict: Verdict; fields: Partial<InstanceLease['status']> } {
    if (isPaused(lease)) {
      const message = 'Paused: the schedule switches nothing, and the instance stays as it is';
      return {
        verdict: { ...verdict('Paused', message), keepsReady: true },
        fields: { ...fields, nextChange: undefined as never },
      };
    }
    const inForce = verdict('Settled', 'The schedule is in force');
    const now = this.#clock.now();
    const until = this.#schedules.at(schedule, now)?.until;
    if (until === undefined)
      return { verdict: inForce, fields: { ...fields, nextChange: undefined as never } };
    return {
      verdict: { ...inForce, recheckAfterMs: until - now + 500 },
      fields: { ...fields, nextChange: rfc3339(until) },
    };
  }

  #warning(
    lease: InstanceLease,
    expireAt: string | undefined,
    fields: Partial<InstanceLease['status']>,
  ): { verdict: Verdict; fields: Partial<InstanceLease['status']> } {
    const inForce = verdict('Settled', 'The lease is in force');
    if (expireAt === undefined)
      return { verdict: inForce, fields: { ...fields, nextChange: undefined as never } };
    const now = this.#clock.now();
    const expire = Date.parse(expireAt);
    const warn = expire - parseDuration(lease.spec.warnBefore);
    if (now < warn) {
      const nextChange = rfc3339(warn);
      return { verdict: { ...inForce, recheckAfterMs: warn - now + 500 }, fields: { ...fields, nextChange } };
    }
    const message = `The lease ends soon (${lease.spec.operation}): see status.expireAt; renew it with boxwright.dev/renew`;
    return {
      verdict: { ...inForce, extra: [{ type: 'LeaseExpiring', reason: 'LeaseExpiring', message }] },
      fields: { ...fields, nextChange: expireAt },
    };
  }
}

/** Why an instance does not have its lease yet, where somebody has to act for that. */
function untaken(instance: Cached<Instance>): string {
  const waits = `Waits until Instance "${instance.metadata.name}" has taken the lease`;
  if (instance.spec.managementPolicy === 'Observe') {
    return `${waits}, which is not written to: its managementPolicy is Observe`;
  }
  return isPaused(instance) ? `${waits}, which is paused` : waits;
}

function isDeleting({ metadata }: InstanceLease): boolean {
  return metadata.deletionTimestamp !== undefined;
}
