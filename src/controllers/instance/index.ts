/** What other kinds may use of the Instance's. */
export { leaseSourceOf } from './lease/source.ts';
export { termsHash } from './lease/terms.ts';
export { instanceKind } from './kind.ts';
export { NESTED_LIMIT } from './nested.ts';
export type { InstanceMemory } from './memory.ts';
