import { CONFIG_MAPS, SECRETS } from '../../src/kube/index.ts';
import type { World } from '../support/world.ts';

/** What somebody else writes into an object to move its version; it has to stay. */
export const FAULTS_TOUCHED = 'example.com/touched';
/** A finalizer of somebody else. */
export const FAULTS_HOLD = 'example.com/hold';
const INSTALLATION = 'faults-installation';

/** The operator's own objects, as an earlier start left them; `fill` is what its key consists of. */
export function seedOwn(world: World, fill = 7): void {
  const metadata = { namespace: 'boxwright-system', name: 'boxwright-installation' };
  world.kube.seed(CONFIG_MAPS, { metadata });
  const { uid } = world.kube.get(CONFIG_MAPS, metadata)?.metadata ?? {};
  world.kube.seed(CONFIG_MAPS, { metadata, data: { id: INSTALLATION, uid } });
  const key = Buffer.alloc(32, fill).toString('base64');
  world.kube.seed(SECRETS, {
    metadata: { namespace: 'boxwright-system', name: 'boxwright-digest-key' },
    data: { key },
  });
}

/** The installation id, once it stands with the uid of its own ConfigMap. */
export function installationOf(world: World): string | undefined {
  const ref = { namespace: 'boxwright-system', name: 'boxwright-installation' };
  const { data } = (world.kube.get(CONFIG_MAPS, ref) ?? {}) as { data?: { id?: string; uid?: string } };
  return data?.uid === undefined ? undefined : data.id;
}
