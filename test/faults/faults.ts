import {
  KubeTransportError,
  type KubeAnswer,
  type KubePort,
  type KubeRequest,
} from '../../src/kube/index.ts';
import {
  ServiceTransportError,
  type PortAnswer,
  type PortRequest,
  type ServicePort,
} from '../../src/service/index.ts';
import { kubeEffect, labelOf, serviceEffect, type Effect } from './effects.ts';

/** What is done to one effect. */
export const MISHAPS = ['crash before', 'crash after', 'answer lost', 'conflict'] as const;
/** What an API server also answers now and then, having done nothing. */
export const KUBE_ERRORS = ['500', '429', '403'] as const;
/** What happens to calls to the service besides: `late` lands on the service long after its sender has died. */
export const SERVICE_ERRORS = ['500', '503', '429', '403', '404', '500 after', 'late'] as const;
/** What a read of the service may come to, once. */
export const READ_ERRORS = ['read 404', 'read 403', 'read 500', 'read lost'] as const;
export type Mishap =
  (typeof MISHAPS)[number] | (typeof SERVICE_ERRORS)[number] | (typeof READ_ERRORS)[number];

/** One mishap, at one effect of a run, or at one read of the service. */
export interface Plan {
  mishap: Mishap;
  /** The effect, or the read. */
  label: string;
  /** Which of those with that label, counted from 0. */
  nth: number;
}

/** What the faults need of the world they happen in. */
export interface Surroundings {
  /** Ends the operator's process in the middle of what it does; another one follows. */
  crash(): void;
  /** Writes the object that a patch is about, as somebody else would; a create is made by somebody else. */
  touch(request: KubeRequest): void | Promise<void>;
  /** Does something later, whatever has become of the operator. */
  later(ms: number, action: () => void): void;
  /** Whether a request is made for somebody else: nothing is planned for that. */
  isOthers?(request: KubeRequest | PortRequest): boolean;
}

/** A call that lands late does so well within the time that a create is waited for. */
const LATE_MS = 20_000;

/** Ports that record every effect and do one thing to one of them. */
export class Faults {
  readonly effects: Effect[] = [];
  /** Reads of the service. */
  readonly reads: string[] = [];
  /** The planned effect came up and was dealt with. */
  hit = false;
  readonly #plan: Plan | undefined;
  readonly #surroundings: Surroundings;

  constructor(plan: Plan | undefined, surroundings: Surroundings) {
    this.#plan = plan;
    this.#surroundings = surroundings;
  }

  kube(port: KubePort): KubePort {
    return {
      watch: (request) => port.watch(request),
      request: async (request) => {
        const effect = this.#surroundings.isOthers?.(request) === true ? undefined : kubeEffect(request);
        if (effect === undefined) return port.request(request);
        return this.#apply<KubeAnswer>(effect, {
          send: () => port.request(request),
          lost: () => new KubeTransportError('the connection was reset', { maybeSent: true }),
          conflict: async () => {
            await this.#surroundings.touch(request);
            return port.request(request);
          },
          refuse: (status) => Promise.resolve(kubeRefusal(status)),
        });
      },
    };
  }

  service(port: ServicePort): ServicePort {
    return {
      send: async (request: PortRequest) => {
        if (this.#surroundings.isOthers?.(request) === true) return port.send(request);
        const effect = serviceEffect(request);
        if (effect === undefined) return this.#read(request, () => port.send(request));
        return this.#apply<PortAnswer>(effect, {
          send: () => port.send(request),
          lost: () => new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true }),
          conflict: () => Promise.resolve(serviceRefusal(409)),
          refuse: (status) => Promise.resolve(serviceRefusal(status)),
        });
      },
    };
  }

  async #read(request: PortRequest, send: () => Promise<PortAnswer>): Promise<PortAnswer> {
    const label = labelOf(request);
    const nth = this.reads.filter((other) => other === label).length;
    this.reads.push(label);
    const plan = this.#plan;
    if (plan?.mishap.startsWith('read ') !== true || plan.label !== label || plan.nth !== nth) return send();
    this.hit = true;
    if (plan.mishap !== 'read lost') return serviceRefusal(Number(plan.mishap.split(' ')[1]));
    throw new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true });
  }

  async #apply<Answer extends { status: number }>(
    effect: Effect,
    how: {
      send: () => Promise<Answer>;
      lost: () => Error;
      conflict: () => Promise<Answer>;
      refuse: (status: number) => Promise<Answer>;
    },
  ): Promise<Answer> {
    const { label } = effect;
    const nth = this.effects.filter((other) => other.label === label).length;
    this.effects.push(effect);
    const noted = async (answer: Promise<Answer>): Promise<Answer> => {
      const done = await answer;
      effect.status = done.status;
      return done;
    };
    const plan = this.#plan;
    const planned = plan?.label === label && plan.nth === nth && !plan.mishap.startsWith('read ');
    if (plan === undefined || !planned) return noted(how.send());
    this.hit = true;
    switch (plan.mishap) {
      case 'crash before':
        this.#surroundings.crash();
        return noted(never());
      case 'crash after':
        await noted(how.send());
        this.#surroundings.crash();
        return never();
      case 'answer lost':
        await noted(how.send());
        throw how.lost();
      case 'conflict':
        return noted(how.conflict());
      case 'late':
        this.#surroundings.later(LATE_MS, () => void noted(how.send()));
        this.#surroundings.crash();
        return never();
      case '500 after':
        await noted(how.send());
        return how.refuse(500);
      default:
        return noted(how.refuse(Number(plan.mishap)));
    }
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/** What a planned refusal of the service says, before its status. */
export const PLANNED = 'planned';

function serviceRefusal(status: number): PortAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...(status === 429 ? { 'retry-after': '7' } : {}) },
    body: Buffer.from(JSON.stringify({ message: `${PLANNED} ${status}` })),
  };
}

function kubeRefusal(status: number): KubeAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: status,
      reason: '',
      message: 'planned',
    },
  };
}
