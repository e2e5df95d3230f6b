/** What others may use of the Connection's. */
export { KEPT_SECRET } from './kept-credentials.ts';
export { ConnectionPool, type PortFactory } from './pool.ts';
export { wireConnection } from './wiring.ts';
