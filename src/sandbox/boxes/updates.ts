import { startOperation } from '../instances/run/operations.ts';
import { freezeStack, revision } from '../instances/stack.ts';
import type { BoxDoc, VersionNumber } from '../model.ts';
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
    const stack = freezeStack(service, version, instance.variables);
    startOperation(
      service,
      { ...instance, stack },
      { operation: 'pull', username: instance.owner, workspace: instance.owner, at: service.time.now() },
    );
  }
}
