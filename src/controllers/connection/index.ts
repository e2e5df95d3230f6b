/** What others may use of the Connection's. */
export { ConnectionPool, type PortFactory } from './pool.ts';
export { ConnectionReconciler } from './reconciler.ts';
