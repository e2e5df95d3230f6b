import type { Clock } from '../../../src/base/clock.ts';
import { sha256Base32 } from '../../../src/base/hash.ts';
import { apiVersionOf, keyOf } from '../../../src/kube/object.ts';
import { sameJson } from '../../../src/kube/patches.ts';
import { NAMESPACES } from '../../../src/kube/types.ts';
import { applyConfiguration, takeOver, type Owners } from './apply.ts';
import type { FakeKind } from './kinds.ts';
import { metadataMistakes } from './metadata.ts';
import { copy, isRecord, mergePatch, timestamp, type JsonRecord, type StoredObject } from './objects.ts';
import { alreadyExists, badRequest, conflict, invalid, notFound, Refusal, type Cause } from './refusals.ts';
import type { Store } from './store.ts';

/** One object and how a request wants it written. */
export interface WriteTarget {
  kind: FakeKind;
  namespace: string | undefined;
  name: string;
  status: boolean;
  manager: string;
  dryRun: boolean;
}

/** What a write leaves: the object as it then is, or last was. */
export interface Written {
  object: StoredObject;
  created: boolean;
}

/** The verbs that change something, with the rules of the API server's generic registry. */
export class Writes {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Who applied what, by uid. */
  readonly #owners = new Map<string, Owners>();
  /**
   * Custom resources as they were made: stored without status, which reading fills in by its default. The
   * first write of anything else stores that too, and is a change for that alone.
   */
  readonly #bare = new Set<string>();
  #made = 0;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  create(target: Omit<WriteTarget, 'name' | 'status'>, body: unknown): StoredObject {
    const { kind, namespace } = target;
    const sent = this.#parse(kind, body);
    const metadata = { ...sent.metadata };
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== '') {
      throw badRequest('resourceVersion should not be set on objects to be created');
    }
    if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    this.#made += 1;
    const uid = uidOf(this.#made);
    const name = metadata.name ?? generatedName(metadata.generateName, uid);
    this.#needNamespace(kind, namespace, name);
    const { deletionTimestamp: _gone, deletionGracePeriodSeconds: _grace, ...kept } = metadata;
    const { status: _status, ...rest } = sent;
    const candidate: StoredObject = {
      ...(kind.status ? rest : sent),
      metadata: {
        ...kept,
        ...(namespace === undefined ? {} : { namespace }),
        name,
        uid,
        resourceVersion: '',
        creationTimestamp: timestamp(this.#clock.now()),
        ...(kind.generation ? { generation: 1 } : {}),
      },
    };
    const key = keyOf({ namespace, name });
    const admitted = this.#admit(kind, candidate, undefined);
    if (this.#store.get(kind.type, key) !== undefined) throw alreadyExists(kind.type, name);
    if (target.dryRun) return admitted;
    if (kind.status && !kind.builtIn && admitted['status'] !== undefined) this.#bare.add(uid);
    return this.#store.commit(kind.type, key, admitted);
  }

  /** PUT. */
  replace(target: WriteTarget, body: unknown): Written {
    const sent = this.#parse(target.kind, body);
    const version: string | undefined = sent.metadata.resourceVersion;
    if ((version === undefined || version === '') && !target.kind.unconditionalUpdate) {
      throw invalid(target.kind.type, target.name, [
        {
          field: 'metadata.resourceVersion',
          reason: 'FieldValueInvalid',
          message: 'Invalid value: 0x0: must be specified for an update',
        },
      ]);
    }
    return this.#update(target, () => sent, { replacing: true });
  }

  /** PATCH with a merge patch. */
  patch(target: WriteTarget, body: unknown): Written {
    if (!isRecord(body)) throw badRequest('the patch is no JSON object');
    return this.#update(target, (current) => mergePatch(current, body) as StoredObject);
  }

  /** PATCH with an apply configuration; makes the object when there is none. */
  apply(target: WriteTarget, body: unknown, force: boolean): Written {
    if (!isRecord(body)) throw badRequest('the apply configuration is no object');
    if (target.manager === '') {
      throw badRequest(
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    }
    const current = this.#store.get(target.kind.type, keyOf(target));
    if (current === undefined) {
      if (target.status) throw notFound(target.kind.type, target.name);
      const { status: _status, ...rest } = body;
      const blank = { apiVersion: '', kind: '', metadata: {} } as unknown as StoredObject;
      const owners: Owners = new Map();
      applyConfiguration(blank, rest, target.manager, { force, owners });
      const metadata = { ...(isRecord(body['metadata']) ? body['metadata'] : {}), name: target.name };
      const object = this.create(target, { ...rest, metadata });
      if (!target.dryRun) this.#owners.set(object.metadata.uid, owners);
      return { object, created: true };
    }
    const owners = new Map([...this.#ownersOf(current)].map(([name, paths]) => [name, new Set(paths)]));
    const written = this.#update(
      target,
      (live) => applyConfiguration(live, body, target.manager, { force, owners }),
      { applying: true },
    );
    if (!target.dryRun) this.#owners.set(current.metadata.uid, owners);
    return written;
  }

  /** DELETE. Answers the object when it only begins to go, undefined when it is gone. */
  remove(
    target: Pick<WriteTarget, 'kind' | 'namespace' | 'name' | 'dryRun'>,
    preconditions: { uid?: unknown; resourceVersion?: unknown },
  ): { going: StoredObject } | { gone: StoredObject } {
    const { kind, name } = target;
    const key = keyOf(target);
    const current = this.#store.get(kind.type, key);
    if (current === undefined) throw notFound(kind.type, name);
    const { metadata } = current;
    for (const [what, wanted] of Object.entries(preconditions)) {
      const actual = metadata[what];
      if (typeof wanted !== 'string' || wanted === actual) continue;
      const label = what === 'uid' ? 'UID' : 'ResourceVersion';
      throw conflict(
        kind.type,
        name,
        `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${String(actual)}`,
      );
    }
    const holds = (metadata.finalizers ?? []).length > 0 || kind.type.kind === 'Namespace';
    if (!holds) {
      if (!target.dryRun) this.#drop(kind, key, current);
      return { gone: current };
    }
    if (metadata.deletionTimestamp !== undefined) return { going: current };
    const going: StoredObject = {
      ...current,
      ...(kind.type.kind === 'Namespace' ? { status: { phase: 'Terminating' } } : {}),
      metadata: {
        ...metadata,
        deletionTimestamp: timestamp(this.#clock.now()),
        deletionGracePeriodSeconds: 0,
        ...(metadata.generation === undefined ? {} : { generation: metadata.generation + 1 }),
      },
    };
    return { going: target.dryRun ? going : this.#store.commit(kind.type, key, going) };
  }

  #update(
    target: WriteTarget,
    change: (current: StoredObject) => StoredObject,
    { applying = false, replacing = false }: { applying?: boolean; replacing?: boolean } = {},
  ): Written {
    const { kind, name } = target;
    const key = keyOf(target);
    const current = this.#store.get(kind.type, key);
    if (current === undefined) throw notFound(kind.type, name);
    const wanted = change(copy(current));
    this.#checkIdentity(target, current, wanted, replacing);
    const next = this.#admit(kind, this.#compose(target, current, wanted), current);
    if (kind.generation && !target.status && !sameJson(content(current), content(next))) {
      next.metadata.generation = (current.metadata.generation ?? 0) + 1;
    }
    if (target.dryRun) return { object: next, created: false };
    const bare = this.#bare.delete(current.metadata.uid);
    if (sameJson(current, next) && !bare) return { object: current, created: false };
    if (!applying) takeOver(current, next, target.manager, this.#ownersOf(current));
    if (next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0) {
      this.#drop(kind, key, next);
      return { object: next, created: false };
    }
    return { object: this.#store.commit(kind.type, key, next), created: false };
  }

  #checkIdentity(target: WriteTarget, current: StoredObject, wanted: StoredObject, replacing: boolean): void {
    const { kind, name, namespace } = target;
    const metadata = (isRecord(wanted.metadata) ? wanted.metadata : {}) as Partial<StoredObject['metadata']>;
    if (metadata.name !== undefined && metadata.name !== name) {
      throw badRequest(
        `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
      );
    }
    if (namespace !== undefined && metadata.namespace !== undefined && metadata.namespace !== namespace) {
      throw badRequest(
        `the namespace of the object (${metadata.namespace}) does not match the namespace on the request (${namespace})`,
      );
    }
    const { resourceVersion, uid } = metadata;
    if (
      resourceVersion !== undefined &&
      resourceVersion !== '' &&
      resourceVersion !== current.metadata.resourceVersion
    ) {
      throw conflict(kind.type, name);
    }
    if (uid !== undefined && uid !== '' && uid !== current.metadata.uid && replacing) {
      throw conflict(
        kind.type,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
      );
    }
    if (target.status) return;
    const causes = (['uid', 'deletionTimestamp'] as const).flatMap((field): Cause[] => {
      const value = metadata[field];
      if (value === undefined || value === '' || value === current.metadata[field]) return [];
      const message = `Invalid value: ${JSON.stringify(value)}: field is immutable`;
      return [{ field: `metadata.${field}`, reason: 'FieldValueInvalid', message }];
    });
    if (causes.length > 0) throw invalid(kind.type, name, causes);
  }

  /** The wanted object with what its writer may not change put back. */
  #compose(target: WriteTarget, current: StoredObject, wanted: StoredObject): StoredObject {
    const { kind } = target;
    const { status: wantedStatus, ...rest } = wanted;
    if (target.status) {
      const { status: _old, ...kept } = current;
      return { ...kept, ...(wantedStatus === undefined ? {} : { status: wantedStatus }) };
    }
    const system = current.metadata;
    const metadata = { ...(isRecord(wanted.metadata) ? wanted.metadata : {}) } as StoredObject['metadata'];
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
      delete metadata[field];
    }
    const composed: StoredObject = {
      ...rest,
      apiVersion: current.apiVersion,
      kind: current.kind,
      metadata: {
        ...metadata,
        name: system.name,
        ...(system.namespace === undefined ? {} : { namespace: system.namespace }),
        uid: system.uid,
        resourceVersion: system.resourceVersion,
        creationTimestamp: system.creationTimestamp,
        ...(system.generation === undefined ? {} : { generation: system.generation }),
        ...(system.deletionTimestamp === undefined
          ? {}
          : { deletionTimestamp: system.deletionTimestamp, deletionGracePeriodSeconds: 0 }),
      },
    };
    const status = kind.status ? current['status'] : wantedStatus;
    return status === undefined ? composed : { ...composed, status };
  }

  #admit(kind: FakeKind, object: StoredObject, old: StoredObject | undefined): StoredObject {
    const mistakes = metadataMistakes(object, old);
    const admitted = kind.admit(tidy(object), old);
    const causes = [...mistakes, ...admitted.causes];
    if (causes.length > 0) throw invalid(kind.type, object.metadata.name, causes);
    return admitted.object;
  }

  #parse(kind: FakeKind, body: unknown): StoredObject {
    if (!isRecord(body)) throw badRequest('the body is no JSON object');
    const sent = copy(body);
    const apiVersion = apiVersionOf(kind.type);
    if (sent['kind'] === undefined && !kind.builtIn) throw badRequest("Object 'Kind' is missing");
    const wrong = Object.entries({ kind: kind.type.kind, apiVersion }).flatMap(([field, wanted]): Cause[] => {
      const actual = sent[field] ?? wanted;
      const message = `Invalid value: ${JSON.stringify(actual)}: must be ${wanted}`;
      return actual === wanted ? [] : [{ field, reason: 'FieldValueInvalid', message }];
    });
    if (wrong.length > 0) throw invalid(kind.type, '', wrong);
    const metadata: JsonRecord = isRecord(sent['metadata']) ? sent['metadata'] : {};
    return { ...sent, apiVersion, kind: kind.type.kind, metadata } as unknown as StoredObject;
  }

  #needNamespace(kind: FakeKind, namespace: string | undefined, name: string): void {
    if (!kind.type.namespaced) return;
    const home = this.#store.get(NAMESPACES, namespace ?? '');
    if (home === undefined) throw notFound(NAMESPACES, namespace ?? '');
    if (home.metadata.deletionTimestamp !== undefined) {
      throw new Refusal(
        403,
        'Forbidden',
        `${kind.type.plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        {
          name,
          kind: kind.type.plural,
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${namespace} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      );
    }
  }

  #drop(kind: FakeKind, key: string, last: StoredObject): void {
    this.#owners.delete(last.metadata.uid);
    this.#bare.delete(last.metadata.uid);
    this.#store.commit(kind.type, key, undefined);
  }

  #ownersOf(object: StoredObject): Owners {
    let owners = this.#owners.get(object.metadata.uid);
    if (owners === undefined) {
      owners = new Map();
      this.#owners.set(object.metadata.uid, owners);
    }
    return owners;
  }
}

/** What `metadata.generation` counts the changes of. */
function content({ metadata: _metadata, status: _status, ...rest }: StoredObject): object {
  return rest;
}

/** Empty maps and lists of metadata do not travel. */
function tidy(object: StoredObject): StoredObject {
  const metadata = { ...object.metadata };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    const value = metadata[field];
    if (value !== undefined && (value === null || Object.keys(value).length === 0)) delete metadata[field];
  }
  return { ...object, metadata };
}

function generatedName(prefix: string | undefined, uid: string): string {
  if (prefix === undefined || prefix === '') {
    throw new Refusal(422, 'Invalid', 'name or generateName is required', {
      causes: [
        {
          reason: 'FieldValueRequired',
          message: 'Required value: name or generateName is required',
          field: 'metadata.name',
        },
      ],
    });
  }
  return `${prefix}${sha256Base32(uid).slice(0, 5)}`;
}

/** A uid that is the same in each run, so that plans can be compared. */
function uidOf(count: number): string {
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
}
