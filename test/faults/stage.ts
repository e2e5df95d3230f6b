import type { KindName } from '../../src/api/kinds.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import type { Shown } from '../support/world.ts';

/** What a workload acts upon and looks at: a world in one process, or one of real parts. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly namespace: string;
  /** Manifests of the Connection and its Secret, the Secret first. */
  readonly connection: string;
  apply(manifests: string): Promise<void>;
  edit(kind: KindName, name: string, spec: object): Promise<void>;
  annotate(kind: KindName, name: string, annotations: Record<string, string | null>): Promise<void>;
  delete(kind: KindName | 'Secret' | 'ConfigMap', name: string): Promise<void>;
  advance(ms: number): Promise<void>;
  /** All resources of a kind, as last looked at. */
  list(kind: KindName | 'Secret'): Shown[];
  get(kind: KindName, name: string): Shown | undefined;
  /** What the resources say. */
  describe(): string;
}
