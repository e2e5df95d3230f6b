/** What other kinds may use of the Instance's. */
export { unknownZone } from './lease/scheduled.ts';
export { isKept, leaseSourceOf } from './lease/source.ts';
export { operationOf, termsHash } from './lease/terms.ts';
export { wireInstance } from './wiring.ts';
