import type { AddressInfo, Server, Socket } from 'node:net';

/** A server of a test while it listens. */
export interface Listening {
  port: number;
  /** Ends every connection at once. */
  stop: () => Promise<void>;
}

/** For tests: has a server listen on loopback. */
export async function listenOnLoopback(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
