import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where to listen. */
export interface ListenAddress {
  /** @default 127.0.0.1 */
  host?: string;
  /** 0 picks a free one. */
  port: number;
}

/** What a process serves besides its work: started before everything else, taken down after it. */
export interface Endpoint {
  /** For the log, such as `metrics`. */
  readonly name: string;
  /** Resolves with the URL once it listens; rejects when the address cannot be had. */
  listen(): Promise<string>;
  /** Stops listening and ends open connections. */
  close(): Promise<void>;
}

/** Resolves with the URL once `server` listens; rejects when the address cannot be had. */
export async function listenOn(
  server: Server,
  scheme: 'http' | 'https',
  { host = '127.0.0.1', port }: ListenAddress,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

/** Stops listening and ends open connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
