/** What others may use of the Box's. */
export { boxKind } from './kind.ts';
