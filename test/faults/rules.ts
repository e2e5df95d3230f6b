import { FINALIZER } from '../../src/api/names.ts';
import type { Shown, World } from '../support/world.ts';

const KINDS = /^(connections|boxes|policyboxes|instances|instanceleases)\./;
const RECORDS = /^(boxes|policyboxes|instances)\./;
const STATUS_BYTES = 20_000;
const CANARY = 'canary-password';

/**
 * What has to hold after every single write, whatever happens: an observed generation that never runs ahead nor
 * back, an id that does not change, Ready only with a record, a small status without secrets, and no resource
 * that goes before its record.
 */
export function watchRules(world: World): { readonly broken: string[] } {
  const broken: string[] = [];
  world.kube.store.listen(({ resource, type, object, before }) => {
    if (!KINDS.test(resource)) return;
    const now = object as unknown as Shown;
    const old = before as unknown as Shown | undefined;
    const name = `${resource.split('.')[0]}/${now.metadata.name}`;
    const claim = (holds: boolean, what: string): void => {
      if (!holds) broken.push(`${name} (version ${now.metadata.resourceVersion}): ${what}`);
    };
    const id = now.status?.id;
    const record = id === undefined ? undefined : recordOf(world, resource, id);
    if (type === 'DELETED') {
      claim(!RECORDS.test(resource) || record === undefined, 'gone before its record');
      return;
    }
    const seen = now.status?.observedGeneration ?? -1;
    claim(seen <= now.metadata.generation, 'observedGeneration runs ahead');
    claim(
      old === undefined || seen >= (old.status?.observedGeneration ?? -1),
      'observedGeneration went back',
    );
    claim(
      old?.status?.id === undefined || id === old.status.id,
      `id changed from ${old?.status?.id} to ${id}`,
    );
    const text = JSON.stringify(now.status ?? {});
    claim(text.length < STATUS_BYTES, `status has ${text.length} bytes`);
    claim(!text.includes(CANARY), 'a secret stands in status');
    const ready = now.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (RECORDS.test(resource) && ready?.status === 'True' && now.metadata.deletionTimestamp === undefined) {
      claim(record !== undefined, 'Ready without a record');
      claim(now.metadata.finalizers?.includes(FINALIZER) === true, 'Ready without a finalizer');
    }
  });
  return {
    get broken() {
      const said = world.events.filter((event) => JSON.stringify(event).includes(CANARY));
      return [...broken, ...said.map((event) => `a secret stands in the event ${event.reason}`)];
    },
  };
}

function recordOf(world: World, resource: string, id: string): object | undefined {
  const table = resource.startsWith('instances.') ? 'instances' : 'boxes';
  return world.sandbox.admin.records(table).find((record) => record.id === id);
}
