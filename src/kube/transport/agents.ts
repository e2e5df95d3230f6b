import { createSecureContext } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import type { Clock } from '../../base/clock.ts';
import type { ClusterAccess } from './auth.ts';
import { tunnelTo } from './tunnel.ts';
import { sameJson } from '../patches.ts';

/** Options of {@link AgentPair}. */
export interface AgentPairOptions {
  /** Time to wait for headers, and between two pieces of a body that is no watch, milliseconds. */
  silenceMs: number;
  clock: Clock;
}

interface Pair {
  access: ClusterAccess;
  requests: Agent;
  watches: Agent;
}

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 45_000;
/** Enough for a controller's workers; more would only queue inside the API server. */
export const REQUEST_CONNECTIONS = 24;

/**
 * The connections to one API server: a pool that all calls share and one connection for each watch. New TLS
 * material means a new pair; the old one ends once nothing is in flight on it.
 */
export class AgentPair {
  readonly #options: AgentPairOptions;
  #pair: Pair | undefined;
  readonly #retired = new Set<Agent>();
  #closed = false;

  constructor(options: AgentPairOptions) {
    this.#options = options;
  }

  /** The agents for an access. */
  for(access: ClusterAccess): { requests: Agent; watches: Agent } {
    if (this.#closed) throw new Error('the connection to the API server was closed by this process');
    const pair = this.#pair;
    if (pair !== undefined) {
      if (pair.access === access) return pair;
      if (sameWay(pair.access, access)) {
        pair.access = access;
        return pair;
      }
      this.#retire(pair.requests);
      this.#retire(pair.watches);
    }
    this.#pair = this.#make(access);
    return this.#pair;
  }

  /** Lets calls in flight end, ends watches at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const pair = this.#pair;
    const ends = [...this.#retired].map((agent) => agent.destroy());
    if (pair !== undefined) ends.push(pair.requests.close(), pair.watches.destroy());
    await Promise.all(ends);
  }

  #make(access: ClusterAccess): Pair {
    const shared: Agent.Options = {
      // HTTP/1.1: a watch has a socket of its own, and one broken socket ends one call.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      headersTimeout: this.#options.silenceMs,
      connect: connectorOf(access, this.#options.clock),
    };
    return {
      access,
      requests: new Agent({
        ...shared,
        connections: REQUEST_CONNECTIONS,
        bodyTimeout: this.#options.silenceMs,
      }),
      // A watch may be silent for long; who reads it keeps the deadline.
      watches: new Agent({ ...shared, bodyTimeout: 0 }),
    };
  }

  #retire(agent: Agent): void {
    this.#retired.add(agent);
    const forget = (): void => {
      this.#retired.delete(agent);
    };
    // Closing rejects only when the agent was destroyed meanwhile, which is what was wanted.
    agent.close().then(forget, forget);
  }
}

/**
 * One for both pools: certificates and key are parsed once instead of once for each connection, and a connection takes up
 * the TLS session of an earlier one.
 */
function connectorOf(access: ClusterAccess, clock: Clock): buildConnector.connector {
  let made: buildConnector.connector | undefined;
  const make = (): buildConnector.connector => {
    const { ca, cert, key, ...others } = access.tls;
    const options = {
      ...others,
      allowH2: false,
      // What is wrong with them is told where a connection fails.
      secureContext: createSecureContext({ ca, cert, key }),
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    };
    return access.proxy === undefined
      ? buildConnector(options)
      : tunnelTo(access.server, access.proxy, clock, options);
  };
  return (to, done) => {
    try {
      made ??= make();
    } catch (error) {
      done(error as Error, null);
      return;
    }
    made(to, done);
  };
}

function sameWay(a: ClusterAccess, b: ClusterAccess): boolean {
  const sameProxy = a.proxy === undefined ? b.proxy === undefined : b.proxy?.isSame(a.proxy) === true;
  return sameProxy && a.server === b.server && sameJson(a.tls, b.tls);
}
