/** What others may use of the PolicyBox's. */
export { wirePolicyBox } from './wiring.ts';
