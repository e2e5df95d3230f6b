/** What others may use of the Box's. */
export type { FindNested } from './cycle.ts';
export { nestedIn } from './nested-in.ts';
export { wireBox } from './wiring.ts';
