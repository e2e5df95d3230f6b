import { randomUUID } from 'node:crypto';
import { sha256Base32 } from '../base/hash.ts';
import { CONFIG_MAPS, KubeApiError, type KubeClient, type KubeObject } from '../kube/index.ts';

/** Name of the ConfigMap, in the operator's own namespace, that keeps the installation id. */
export const INSTALLATION_CONFIG_MAP = 'boxwright-installation';

/** Who this operator is to the records that it made. */
export interface Installation {
  id: string;
  /**
   * Why nothing may be written to the service and no finalizer may go until the id is confirmed by
   * `--installation-id`; undefined when it is confirmed.
   */
  unconfirmed: string | undefined;
}

interface InstallationMap extends KubeObject {
  data?: Record<string, string>;
}

export interface InstallationOptions {
  kube: KubeClient;
  namespace: string;
  /** What the user gave with `--installation-id`. */
  confirmedId?: string | undefined;
  /** The installation ids found in claims of resources here; empty for a claim that does not say which. */
  claimedIds: () => readonly string[];
  signal?: AbortSignal;
}

/**
 * Finds out who this installation is: from the ConfigMap, which also keeps its own uid so that a copy in
 * another cluster is noticed, or from the user, or, when nothing here was ever claimed, made anew.
 */
export async function loadInstallation(options: InstallationOptions): Promise<Installation> {
  const { kube, namespace, confirmedId, signal } = options;
  const ref = { namespace, name: INSTALLATION_CONFIG_MAP };
  for (;;) {
    const map = await kube.get<InstallationMap>(CONFIG_MAPS, ref, { signal });
    const stored = map?.data?.id;
    const confirmed = stored !== undefined && map?.data?.uid === map?.metadata.uid;
    if (confirmed && (confirmedId === undefined || confirmedId === stored)) {
      return { id: stored, unconfirmed: undefined };
    }
    if (map === undefined && confirmedId === undefined && options.claimedIds().length > 0) {
      return {
        id: options.claimedIds().find((id) => id !== '') ?? '',
        unconfirmed:
          `resources here carry claims, but the ConfigMap ${INSTALLATION_CONFIG_MAP} is gone: ` +
          `start the operator with --installation-id to confirm which installation this is`,
      };
    }
    const unfinished = map !== undefined && map.data?.uid === undefined;
    if (map !== undefined && confirmedId === undefined && stored !== undefined && !unfinished) {
      return {
        id: stored,
        unconfirmed:
          `the ConfigMap ${INSTALLATION_CONFIG_MAP} was copied from elsewhere: start the operator with ` +
          `--installation-id to confirm that this cluster takes over that installation's records`,
      };
    }
    const id = confirmedId ?? stored ?? sha256Base32(randomUUID()).slice(0, 16);
    try {
      const made =
        map ?? (await kube.create<InstallationMap>(CONFIG_MAPS, { metadata: ref, data: { id } }, { signal }));
      await kube.mergePatch(
        CONFIG_MAPS,
        ref,
        { data: { id, uid: made.metadata.uid } },
        { resourceVersion: made.metadata.resourceVersion, signal },
      );
      return { id, unconfirmed: undefined };
    } catch (error) {
      // Another process writes it at the same time: read what it wrote.
      if (!(error instanceof KubeApiError && error.status === 409)) throw error;
    }
  }
}
