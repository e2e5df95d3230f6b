import type { Court, Judge, ServiceCall } from './judge.ts';
import {
  holds,
  keyOfShown,
  markerFor,
  markersIn,
  mayRemoveFormer,
  RECORD_KINDS,
  standingOf,
} from './parts.ts';
import type { Shown } from '../support/world.ts';

/** Operations that status names before they are sent; a deploy of a new instance has the create-intent. */
const OPERATION = /^\/services\/instances\/[^/]+\/(shutdown|poweron|reinstall|reconfigure|deploy|redeploy)\b/;

/**
 * What is sent and cannot be taken back is written down first, so that whoever comes after a crash knows of it:
 * a create by finalizer and intent, an operation by `status.currentOperation`, a delete by `status.deleteSentAt`.
 */
export function notedFirst(court: Court): Judge {
  const created = (call: ServiceCall): void => {
    const markers = markersIn(JSON.stringify(call.body ?? ''));
    const owners = Object.keys(RECORD_KINDS).flatMap((plural) =>
      court
        .resources(plural)
        .filter((resource) => markers.includes(markerFor(court, plural, keyOfShown(resource)) ?? ''))
        .map((resource) => [`${plural} ${keyOfShown(resource)}`, standingOf(resource)] as const),
    );
    if (owners.length !== 1) {
      court.object(`POST ${call.path} for ${call.by} carries the marker of ${owners.length} resources`);
      return;
    }
    for (const [name, { finalizer, intent, statusId, claimed }] of owners) {
      if (!finalizer || intent === undefined)
        court.object(`${name}: a create goes out without intent or finalizer`);
      if (statusId !== undefined || claimed !== undefined)
        court.object(`${name}: a create goes out although it has ${statusId ?? claimed}`);
    }
  };
  const holdersOf = (call: ServiceCall): Shown[] =>
    Object.keys(RECORD_KINDS)
      .flatMap((plural) => court.resources(plural))
      .filter((resource) => holds(resource, call.record?.id ?? ''));
  /** An earlier record is noted as such before it is removed. */
  const isFormer = (call: ServiceCall): boolean =>
    Object.keys(RECORD_KINDS)
      .flatMap((plural) => court.resources(plural))
      .some((resource) => mayRemoveFormer(resource, call.record?.id ?? ''));
  /** Records whose delete a status has noted. */
  const notedOnce = new Set<string>();
  return {
    changed({ now }) {
      const id = now?.status?.id;
      if (id !== undefined && now?.status?.['deleteSentAt'] !== undefined) notedOnce.add(id);
    },
    calling(call) {
      if (call.method === 'POST' && /^\/services\/(boxes|instances)$/.test(call.path)) created(call);
      if (call.method === 'PUT' && OPERATION.test(call.path)) {
        const [, operation = ''] = OPERATION.exec(call.path) ?? [];
        const event = operation === 'redeploy' ? 'deploy' : operation;
        const noted = holdersOf(call).some(
          ({ status }) => (status?.['currentOperation'] as { event?: string } | undefined)?.event === event,
        );
        if (!noted) court.object(`${call.by}: ${operation} goes out before status names it`);
      }
      if (call.method === 'DELETE' && !/operation=(terminate|force_terminate)/.test(call.path)) {
        const isNoted = holdersOf(call).some(({ status }) => status?.['deleteSentAt'] !== undefined);
        const [plural = '', key = ''] = (call.by ?? '').split(' ');
        // It was noted on a resource that has gone since.
        const isLetGo =
          notedOnce.has(call.record?.id ?? '') && court.resource(plural, key)?.status?.id !== call.record?.id;
        if (!isNoted && !isFormer(call) && !isLetGo)
          court.object(`${call.by}: ${call.method} ${call.path} goes out before status notes it`);
      }
    },
  };
}
