/** What others may use of the Box's. */
export { type FindNested, containsBox } from './cycle.ts';
export { boxKind, nestedIn } from './kind.ts';
