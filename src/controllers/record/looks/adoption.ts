import type { AnyRecord } from '../../../service/index.ts';
import type { Claims } from '../claims.ts';
import type { Pass, RecordKind } from '../kind.ts';
import type { Memory } from '../memory.ts';
import { finalNameOf, type ManagedResource } from '../resource.ts';
import { verdict } from '../status/verdict.ts';
import { failed, failedRead, seen, SHARED_LIST_AGE_MS, type Looked } from './looked.ts';

/** A record that is to be adopted and is not seen is looked for at the least so often, milliseconds. */
const ADOPTEE_LOOK_MS = 600_000;

/** Whether a record may be adopted. */
export type Adoptee<Rec> =
  /** `isEnded`: it is terminated for good. */
  | { kind: 'free'; record: Rec; isEnded: boolean }
  | { kind: 'notThere'; recheckAfterMs: number }
  /** It is not in the list in which its absence would have to be proved. */
  | { kind: 'elsewhere'; list: string; advice: string; recheckAfterMs: number }
  | { kind: 'misfit'; why: string }
  /** Whether it fits cannot be told yet. */
  | { kind: 'uncompared'; why: string }
  /** The annotation names nothing that could be an id. */
  | { kind: 'noId' }
  | { kind: 'claimed'; by: string };

/** Looks at records that a person names. */
export class AdoptionLooks<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;

  constructor(kind: RecordKind<R, Rec, Desired, M>, claims: Claims<R>) {
    this.#kind = kind;
    this.#claims = claims;
  }

  /** May the record that the user names be taken over? */
  async adoptee(pass: Pass<R, Rec, M>, id: string): Promise<Looked<Adoptee<Rec>>> {
    const read = await this.#kind.read(pass.handle, id, { priority: pass.priority, signal: pass.signal });
    const unseen = (): number => this.#adopteeAgain(pass, id);
    if (read.kind === 'missing') return seen({ kind: 'notThere', recheckAfterMs: unseen() }, read.startedAt);
    if (read.kind === 'unknown') {
      if (read.error.code === 'BadId') return seen({ kind: 'noId' }, 0);
      if (read.error.status === 403) return seen({ kind: 'notThere', recheckAfterMs: unseen() }, 0);
      return failed(read.error, pass);
    }
    pass.memory.attempts.succeeded('read', '');
    const { endpoint } = pass.handle;
    const holder = this.#claims.holder({ id, endpoint }, pass.resource, read.record);
    if (holder !== undefined) {
      return seen({ kind: 'claimed', by: this.#claims.nameOf(holder, pass.resource) }, read.startedAt);
    }
    const misfit = this.#kind.misfit(read.record, pass);
    if (misfit !== undefined) return seen(misfit, read.startedAt);
    const { listing } = this.#kind;
    const list = await pass.handle.client.shared.list(listing.family, listing.at(pass.owner), {
      maxAgeMs: SHARED_LIST_AGE_MS / 3,
      holding: (entry) => entry.id === id,
      priority: pass.priority,
      signal: pass.signal,
    });
    if (list.kind !== 'found') return failedRead(list, pass, listing.missing);
    if (!list.record.some((entry) => entry.id === id)) {
      return seen(
        { kind: 'elsewhere', ...listing.elsewhere(pass.owner), recheckAfterMs: unseen() },
        read.startedAt,
      );
    }
    pass.memory.attempts.succeeded('read', adopting(id));
    pass.memory.observed = { record: read.record, startedAt: read.startedAt, takeOver: false };
    const { ending } = this.#kind.candidate(read.record, pass.marker, finalNameOf(pass.resource));
    return seen({ kind: 'free', record: read.record, isEnded: ending === 'terminated' }, read.startedAt);
  }

  /** May the record that a claim names which nothing else confirms be taken up? It bears the resource's name, too. */
  async restored(pass: Pass<R, Rec, M>, id: string, finalName: string): Promise<Looked<Adoptee<Rec>>> {
    const looked = await this.adoptee(pass, id);
    if (looked.kind === 'failed' || looked.value.kind !== 'free') return looked;
    const { name } = looked.value.record;
    if (name === finalName) return looked;
    return { ...looked, value: { kind: 'misfit', why: `it is called "${name ?? ''}", not "${finalName}"` } };
  }

  /** When to look again for a record that was not seen: soon, since reads trail what was just made, then less often. */
  #adopteeAgain({ memory }: Pass<R, Rec, M>, id: string): number {
    const said = verdict('WaitingForReference', `The ${this.#kind.noun} ${id} is not seen`);
    const { recheckAfterMs = 0 } = memory.attempts.missed('read', adopting(id), said);
    return Math.min(recheckAfterMs, ADOPTEE_LOOK_MS);
  }
}

/** Fingerprint of looks for a record that is to be adopted. */
function adopting(id: string): string {
  return `adopt ${id}`;
}
