import { KnownSecrets } from '../../src/base/masking/known-secrets.ts';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { kindOf, type AnyResource } from '../../src/api/kinds.ts';
import { isShownOnly } from '../../src/controllers/record/status/gate.ts';
import { StatusWriter } from '../../src/controllers/record/status/writer.ts';
import { KubeClient, type KubePort, type KubeRequest, type ResourceType } from '../../src/kube/index.ts';
import type { WildCase } from './wild.ts';

const SIGNAL = new AbortController().signal;
const NAME = 'sample';

/** One resource on an API server, and the operator's hand that writes its status. */
export class WildBench {
  readonly #wild: WildCase;
  readonly #writer: StatusWriter<AnyResource>;
  #cached: AnyResource;
  readonly #notes: string[] = [];
  #patches = 0;

  private constructor(wild: WildCase, port: KubePort, clock: Clock, made: unknown) {
    this.#wild = wild;
    this.#cached = this.#parse(made);
    const counting: KubePort = {
      request: (request: KubeRequest) => {
        this.#patches += 1;
        return port.request(request);
      },
      watch: (request: KubeRequest) => port.watch(request),
    };
    const { group, version, plural, kind } = wild.definition;
    const type: ResourceType = { group, version, plural, kind, namespaced: true };
    const cache = {
      get: () => this.#cached,
      remember: (raw: object) => {
        this.#cached = this.#parse(raw);
      },
      isLiving: () => true,
    };
    const recorder = {
      event: ({ note }: { note: string }): void => {
        if (!note.isWellFormed()) this.#notes.push('the note of an event holds half a character');
      },
    };
    const kube = new KubeClient(counting, { clock, random: () => 0.5 });
    // Words that texts are made of: what is masked has to fit as well.
    const secrets = new KnownSecrets();
    const { metadata, spec } = this.#cached;
    const { name } = 'connectionRef' in spec ? spec.connectionRef : metadata;
    for (const word of ['done', 'PORT', '2026-01-02 03:04']) {
      secrets.of(`${metadata.namespace}/${name}`).note(word);
    }
    const parts = { clock, kube, log: silentLogger, recorder, secrets };
    this.#writer = new StatusWriter(parts, type, cache);
  }

  /** Creates the resource as a user would. */
  static async make(wild: WildCase, port: KubePort, clock: Clock, namespace: string): Promise<WildBench> {
    const { definition, spec, annotations } = wild;
    const { group, version, kind } = definition;
    const metadata = { name: NAME, annotations };
    const body = { apiVersion: `${group}/${version}`, kind, metadata, spec };
    const made = await port.request({ method: 'POST', path: definition.collectionPath(namespace), body });
    if (made.status !== 201) throw new Error(`not created: ${JSON.stringify(made.body)}`);
    return new WildBench(wild, port, clock, made.body);
  }

  /** Writes the status twice, and says what is wrong with what the API server then has. Throws where it refuses. */
  async judge(): Promise<string[]> {
    const { definition, fields } = this.#wild;
    const stop = await this.#write();
    const { metadata } = this.#cached;
    const status = this.#cached.status as unknown as Record<string, unknown>;
    const wrong: string[] = [];
    if (status['observedGeneration'] !== metadata.generation) wrong.push('observedGeneration stays behind');
    const conditions = status['conditions'] as { type: string; reason: string; status: string }[] | undefined;
    const ready = conditions?.find(({ type }) => type === 'Ready');
    if (ready === undefined) wrong.push('there is no condition Ready');
    if (stop !== undefined && (ready?.reason !== 'NotSupported' || ready.status !== 'False')) {
      wrong.push('what stops it is not said');
    }
    const meant = new Set(decidingTexts(definition.kind, fields, ''));
    const cut = decidingTexts(definition.kind, status, '').filter((text) => !meant.has(text));
    wrong.push(...cut.map((text) => `changed though it decides: ${text}`), ...this.#notes);
    const sent = this.#patches;
    await this.#write();
    if (this.#patches !== sent) wrong.push('the same is written twice');
    return wrong;
  }

  async #write(): Promise<string | undefined> {
    const { verdict, fields } = this.#wild;
    const stop = await this.#writer.write(this.#cached, { verdict, fields }, SIGNAL);
    return stop?.reason;
  }

  /** What the operator reads back has to fit its own schema, too. */
  #parse(raw: unknown): AnyResource {
    const parsed = kindOf(this.#wild.definition.kind as AnyResource['kind']).parse(raw);
    if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
    return parsed.resource;
  }
}

/** Every text at a place that decides, as `path: text`; tokens may stand there as a hash. */
function decidingTexts(kind: string, value: unknown, path: string): string[] {
  if (path !== '' && (isShownOnly(kind, path) || /^(handledRequests|handledRenew)/.test(path))) return [];
  if (typeof value === 'string') return [`${path}: ${value}`];
  if (Array.isArray(value)) return value.flatMap((item) => decidingTexts(kind, item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    decidingTexts(kind, member, path === '' ? name : `${path}.${name}`),
  );
}
