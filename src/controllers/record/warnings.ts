import type { OperatorContext } from '../context.ts';
import { eventTarget } from '../event-target.ts';
import type { ManagedResource } from './resource.ts';

/** So many are told of one resource; then the oldest is told again should it come. */
const TOLD_LIMIT = 20;

/** What the service has warned of in answers to writes, and what of it was told. */
export class ServiceWarnings {
  readonly #told = new Set<string>();
  readonly #fresh = new Set<string>();

  note(texts: readonly string[]): void {
    for (const text of texts) if (!this.#told.has(text)) this.#fresh.add(text);
  }

  /** Tells each by an Event and a line of the log, once a process. */
  tell(
    { recorder, log }: Pick<OperatorContext, 'recorder' | 'log'>,
    kind: string,
    resource: ManagedResource,
  ): void {
    const { namespace, name } = resource.metadata;
    for (const text of this.#fresh) {
      recorder.event({
        regarding: eventTarget(kind, resource),
        type: 'Warning',
        reason: 'ServiceWarned',
        action: 'Reconcile',
        note: `The service accepted the request and warns: ${text}`,
      });
      log.warn({ kind, namespace, name, warning: text }, 'the service warns');
      this.#told.add(text);
      const [oldest] = this.#told;
      if (this.#told.size > TOLD_LIMIT && oldest !== undefined) this.#told.delete(oldest);
    }
    this.#fresh.clear();
  }
}
