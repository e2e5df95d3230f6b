import { createServer, type AddressInfo } from 'node:net';

/**
 * A loopback port that is free now. Another process can take it before it is used: whoever uses it tries
 * again with another one.
 */
export async function freePort(): Promise<number> {
  return listen(0);
}

/** Whether `port` can be listened on. */
export async function isFree(port: number): Promise<boolean> {
  try {
    await listen(port);
    return true;
  } catch {
    // EADDRINUSE or EACCES: either way it is not to be had.
    return false;
  }
}

function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address() as AddressInfo;
      server.close(() => resolve(address.port));
    });
  });
}
