import type { EventName } from './box.ts';
import type { RequestedOperation } from './names.ts';

/**
 * Words of the service and ours, one to one. Open sets (service types, provider types, profile properties,
 * requirement names) stay as the service spells them and are not here.
 */

/** A two-way map; unknown words of the service come back as undefined and are shown as they are. */
export interface Words<Ours extends string> {
  /** Our word to the service's. */
  toService(ours: Ours): string;
  /** The service's word to ours. */
  fromService(theirs: string): Ours | undefined;
  /** Our words. */
  readonly ours: readonly Ours[];
}

function words<Ours extends string>(table: Readonly<Record<Ours, string>>): Words<Ours> {
  const ours = Object.keys(table) as Ours[];
  const back = new Map<string, Ours>(ours.map((word) => [table[word], word]));
  return {
    toService: (word) => table[word],
    fromService: (word) => back.get(word),
    ours,
  };
}

/** `automatic_updates` (interface document section 2.1). `off` is a YAML 1.1 boolean, hence None. */
export const AUTOMATIC_UPDATES = words({ None: 'off', Patch: 'patch', Minor: 'minor', Major: 'major' });

/** `visibility` of a box (interface document section 2.1). */
export const BOX_VISIBILITY = words({
  Workspace: 'workspace',
  Organization: 'organization',
  Public: 'public',
});

/** `role` of a member (service-behaviour.md 8). */
export const MEMBER_ROLES = words({ Collaborator: 'collaborator', Read: 'read' });

/** Types of boxes that a Box can be, by the last word of their schema (interface document section 2.1). */
export const BOX_TYPES = words({ Script: 'script', Docker: 'docker', CloudFormation: 'cloudformation' });

/** `visibility` of a variable (interface document section 2.2, service-behaviour.md 2.5). */
export const VARIABLE_VISIBILITY = words({ Public: 'public', Internal: 'internal', Private: 'private' });

/** `lease.operation` (interface document section 2.6). */
export const LEASE_OPERATIONS = words({
  Shutdown: 'shutdown',
  Terminate: 'terminate',
  AlwaysOn: 'alwayson',
});

/** Lifecycle events of a script box (interface document section 2.4), deprecated ones included. */
export const EVENT_NAMES: Words<EventName> = words({
  preInstall: 'pre_install',
  install: 'install',
  preConfigure: 'pre_configure',
  configure: 'configure',
  preStart: 'pre_start',
  start: 'start',
  preStop: 'pre_stop',
  stop: 'stop',
  postStop: 'post_stop',
  preDispose: 'pre_dispose',
  dispose: 'dispose',
  postDispose: 'post_dispose',
  postInstall: 'post_install',
  postConfigure: 'post_configure',
  postStart: 'post_start',
});

/** One-shot operations: what the annotation says and the operation of the service. */
export const REQUESTED_OPERATIONS: Words<RequestedOperation> = words({
  reinstall: 'reinstall',
  reconfigure: 'reconfigure',
  redeploy: 'deploy',
});
