/** What others may use of the InstanceLease's. */
export { wireInstanceLease } from './wiring.ts';
