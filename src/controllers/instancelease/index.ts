/** What others may use of the InstanceLease's. */
export { InstanceLeaseReconciler } from './reconciler.ts';
