import type { KindName } from '../api/kinds.ts';
import { wireBox } from './box/index.ts';
import { wireConnection } from './connection/index.ts';
import { wireInstance } from './instance/index.ts';
import { wireInstanceLease } from './instancelease/index.ts';
import { wirePolicyBox } from './policybox/index.ts';
import type { KindDeps, WiredKind } from './wired-kind.ts';

/** The controller of each kind: whoever adds a kind to src/api/kinds.ts adds it here, or nothing compiles. */
export const WIRING: Readonly<Record<KindName, (deps: KindDeps) => WiredKind>> = {
  Connection: wireConnection,
  Box: wireBox,
  PolicyBox: wirePolicyBox,
  Instance: wireInstance,
  InstanceLease: wireInstanceLease,
};
