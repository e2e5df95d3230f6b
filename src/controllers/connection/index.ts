/** What others may use of the Connection's. */
export { KEPT_SECRET, KeptCredentials } from './kept-credentials.ts';
export { ConnectionPool, type PortFactory } from './pool.ts';
export { ConnectionReconciler } from './reconciler.ts';
