import { startOperation } from '../instances/run/operations.ts';
import { callerOf } from '../access.ts';
import { Refusal } from '../http.ts';
import { checkBindings } from '../instances/bindings.ts';
import { freezeTree, revision, treeFor } from '../instances/stack.ts';
import type { BoxDoc, InstanceDoc, VersionNumber } from '../model.ts';
import type { Service } from '../service.ts';

/** Whether something at version `from` moves to `to` by itself (interface document section 9). */
export function follows(level: string, from: VersionNumber | undefined, to: VersionNumber): boolean {
  // What runs the draft follows only when every new version is wanted.
  if (from === undefined) return level === 'major';
  const newer =
    to.major > from.major ||
    (to.major === from.major &&
      (to.minor > from.minor || (to.minor === from.minor && to.patch > from.patch)));
  if (!newer) return false;
  if (level === 'major') return true;
  if (level === 'minor') return to.major === from.major;
  return level === 'patch' && to.major === from.major && to.minor === from.minor;
}

/**
 * Carries a published version to what follows it: Box variables that name an older version of the box, and
 * online instances, which are reinstalled.
 */
export function spreadVersion(service: Service, version: BoxDoc): void {
  const published = version.version;
  if (published === undefined) return;
  for (const box of service.store.boxes.all()) {
    if (box.version !== undefined) continue;
    const variables = box.variables.map((variable) => {
      const named = variable.type === 'Box' ? service.store.boxes.get(String(variable.value)) : undefined;
      const level = variable.automatic_updates ?? 'off';
      const older = named?.version?.box === published.box ? named.version.number : undefined;
      return older !== undefined && follows(level, older, published.number)
        ? { ...variable, value: version.id }
        : variable;
    });
    if (variables.some((variable, n) => variable !== box.variables[n])) {
      service.store.boxes.put({ ...box, variables, updated: service.time.stamp() });
    }
  }
  for (const instance of service.store.instances.by('box', published.box)) {
    const current = revision(service, instance.stack[0] ?? '')?.version?.number;
    if (!follows(instance.automatic_updates, current, published.number)) continue;
    if (!service.rules.accepts.pull(instance.state, instance.operation.event)) continue;
    const next = withVersion(service, instance, version);
    if (next === undefined) continue;
    startOperation(service, next, {
      operation: 'pull',
      username: instance.owner,
      workspace: instance.owner,
      at: service.time.now(),
    });
  }
}

/**
 * The instance with the version, on behalf of who owns it; undefined when that user cannot see all that the
 * version needs: the instance then stays as it is, and the version is published all the same.
 */
function withVersion(service: Service, instance: InstanceDoc, version: BoxDoc): InstanceDoc | undefined {
  const user = service.store.workspaces.get(instance.owner)?.owner ?? '';
  const [account] = service.store.accounts.by('workspace', user);
  const owner = account === undefined ? undefined : callerOf(service, account.id);
  if (owner === undefined) return undefined;
  try {
    const tree = treeFor(service, owner, version, instance.variables, instance);
    const next = { ...instance, stack: freezeTree(service, tree, instance.machineCount) };
    checkBindings(owner, service, next, instance.bindings);
    return next;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
