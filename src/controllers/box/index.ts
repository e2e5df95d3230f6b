/** What others may use of the Box's. */
export { type FindNested, boxCycle } from './cycle.ts';
export { boxKind, nestedIn } from './kind.ts';
