import { LAG_WINDOW } from '../../api/connection.ts';
import { factsOf } from '../../api/reasons.ts';
import { parseDuration } from '../../base/duration.ts';
import type { ReconcileContext } from '../../kube/index.ts';
import type { AnyRecord } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import { eventTarget } from '../event-target.ts';
import { Claims } from './claims.ts';
import type { RecordStep } from './decide/observation.ts';
import { declared, formerFields, type Effects, type Outcome } from './effects.ts';
import { FIRST_WORD_MS } from './first-word.ts';
import type { FormerSteps } from './former/steps.ts';
import type { Place } from './identity/seal.ts';
import { placeOf, type Pass, type RecordKind } from './kind.ts';
import type { LaterLooks } from './later-looks.ts';
import type { Memory } from './memory.ts';
import { keyOf, type ManagedResource } from './resource.ts';
import { verdict } from './status/verdict.ts';

/** How long reads may trail writes where no connection says so, milliseconds. */
const LAG_WINDOW_MS = parseDuration(LAG_WINDOW);

/** Takes the steps that are decided upon. */
export class Steps<R extends ManagedResource, Rec extends AnyRecord, Desired, M extends Memory<Rec>> {
  readonly #context: OperatorContext;
  readonly #kind: RecordKind<R, Rec, Desired, M>;
  readonly #claims: Claims<R>;
  readonly #effects: Effects<R, Rec, Desired, M>;
  readonly #formerSteps: FormerSteps<R, Rec, Desired, M>;
  readonly #later: LaterLooks<R, Rec, Desired, M>;

  constructor(
    context: OperatorContext,
    kind: RecordKind<R, Rec, Desired, M>,
    parts: {
      claims: Claims<R>;
      effects: Effects<R, Rec, Desired, M>;
      formerSteps: FormerSteps<R, Rec, Desired, M>;
      later: LaterLooks<R, Rec, Desired, M>;
    },
  ) {
    this.#context = context;
    this.#kind = kind;
    this.#claims = parts.claims;
    this.#effects = parts.effects;
    this.#formerSteps = parts.formerSteps;
    this.#later = parts.later;
  }

  /** Takes one. */
  async take(
    resource: R,
    memory: M,
    marker: string,
    pass: Pass<R, Rec, M> | undefined,
    step: Exclude<RecordStep<Rec, Desired>, { do: 'look' }>,
    run: ReconcileContext,
  ): Promise<Outcome<R>> {
    const lagWindowMs = pass?.handle.poll.lagWindowMs ?? LAG_WINDOW_MS;
    switch (step.do) {
      case 'nothing':
        return {};
      case 'await':
        return { soonMs: step.recheckAfterMs ?? FIRST_WORD_MS };
      case 'report': {
        const gone = step.gone === true ? this.#kind.gone : undefined;
        const fields =
          step.record === undefined || pass === undefined
            ? step.unseen === true
              ? (this.#kind.unseen ?? {})
              : (gone ?? {})
            : this.#kind.observe(pass, step.record);
        return { wish: { verdict: step.verdict, fields } };
      }
      case 'release':
        if (step.gone !== true) return this.#effects.release(resource, run.signal, { marker, lagWindowMs });
        this.#effects.forgetMade(marker);
        if (pass !== undefined && step.lookFor !== undefined) {
          this.#later.note(keyOf(resource), pass, step.lookFor);
        }
        return this.#effects.release(resource, run.signal);
      case 'guard':
        return this.#effects.guard(resource, run.signal);
      case 'unclaim':
        this.#effects.forgetMade(marker);
        return this.#effects.unclaim(resource, memory, run.signal);
      case 'clearIntent':
        return this.#effects.clearIntent(resource, memory, run.signal, {
          finalizerToo: step.finalizerToo === true,
        });
      case 'claim': {
        const { signal } = run;
        const place = this.#placeOf(resource, pass, step.id);
        return this.#effects.claim({ resource, memory, marker, place, lagWindowMs, signal }, step.id);
      }
      default:
    }
    if (pass === undefined) return {};
    switch (step.do) {
      case 'forgetId':
        return this.#formerSteps.forget(pass, step);
      case 'noteId': {
        const said = verdict('Updating', `The ${this.#kind.noun} ${step.id} is being noted`);
        return { wish: { verdict: said, fields: this.#effects.identity(pass, step) }, again: true };
      }
      case 'takeBack':
        return this.#formerSteps.takeBack(pass, step);
      case 'removeFormer':
        return this.#formerSteps.remove(pass, step.sight);
      case 'writeIntent':
        return this.#effects.writeIntent(pass, step);
      case 'create':
        return this.#effects.create(pass, step.intent, step.desired);
      case 'converge': {
        const tended =
          step.former === undefined ? undefined : await this.#formerSteps.tend(pass, step.former);
        if (tended?.isSent === true) return { again: true, quiet: true };
        const done = await this.#kind.converge(pass, step.record, step.desired);
        if (done.corrected === true) this.#context.observer?.corrected(this.#kind.type.kind);
        if (done.afresh === true) return { again: true };
        const held = done.renounce === true ? this.#effects.recreation(resource, memory) : undefined;
        if (held !== undefined) {
          return {
            wish: { verdict: held, fields: { ...this.#effects.identity(pass, step.record), ...done.fields } },
          };
        }
        if (done.renounce === true) {
          const { former } = step;
          const next =
            resource.status.id === undefined
              ? ({ do: 'unclaim' } as const)
              : ({ do: 'forgetId', why: 'Ended', former } as const);
          return this.take(resource, memory, marker, pass, next, run);
        }
        const again = step.former === undefined ? [] : [...step.former.again, ...step.former.back];
        const isUp = this.#kind.isUp(step.record, marker);
        if (isUp) memory.attempts.inForce('recreate', declared(resource));
        const news = {
          own: step.record.id,
          gone: [...(step.former?.gone ?? []), ...(tended?.gone ?? [])],
          noted: tended?.noted ?? [],
          again: again.map(({ former }) => former.id),
          isUp: isUp || (factsOf(done.verdict.reason).ready === 'True' && done.again !== true),
        };
        const fields = {
          ...this.#effects.identity(pass, step.record),
          ...done.fields,
          ...formerFields(pass, news),
        };
        return {
          wish: { verdict: this.#formerSteps.beside(pass, done.verdict, step.former, tended?.waits), fields },
          ...(done.again === true || news.noted.length > 0 ? { again: true } : {}),
          // What is to be noted before anything is sent is never left out.
          ...(done.quiet === true && news.noted.length === 0 ? { quiet: true } : {}),
        };
      }
      case 'follow': {
        const done = await this.#kind.follow?.(pass, step.record);
        const { recheckAfterMs } = done?.verdict ?? {};
        return {
          wish: {
            verdict: { ...step.verdict, ...(recheckAfterMs === undefined ? {} : { recheckAfterMs }) },
            fields: { ...this.#kind.observe(pass, step.record), ...done?.fields },
          },
          ...(done?.again === true ? { again: true } : {}),
        };
      }
      case 'remove':
        this.#tellOfOthers(pass);
        return this.#effects.remove(pass, step.record);
      case 'askByDelete':
        return this.#effects.askByDelete(pass, step.id, step.verdict);
      default:
        return step satisfies never;
    }
  }

  /** Who names the record by its id from another namespace holds nothing here: the service's answer decides. */
  #tellOfOthers({ resource, memory }: Pass<R, Rec, M>): void {
    if (memory.isOthersTold || !this.#kind.users(resource).others) return;
    memory.isOthersTold = true;
    this.#context.recorder.event({
      regarding: eventTarget(this.#kind.type.kind, resource),
      type: 'Normal',
      reason: 'Deleting',
      action: 'Delete',
      note: `Resources of other namespaces name this ${this.#kind.noun} by its id: the service decides whether it can be deleted`,
    });
  }

  /** Where a record that is claimed is: where it was last found, or, newly claimed, where the connection leads. */
  #placeOf(resource: R, pass: Pass<R, Rec, M> | undefined, id: string): Place | undefined {
    const claim = this.#claims.judge(resource);
    if (claim.kind === 'mine' && claim.id === id) return Claims.homeOf(resource, claim);
    return pass === undefined ? undefined : placeOf(pass);
  }
}
