/** What others may use of the PolicyBox's. */
export { policyBoxKind } from './kind.ts';
