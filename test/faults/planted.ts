/** A mistake that somebody could make, as a change of the text of one source file. */
export interface Planted {
  name: string;
  /** Below `src/`. */
  file: string;
  find: string;
  replace: string;
  /** Workloads that can show it, by the start of their names. */
  workloads: readonly string[];
  /** By how many polls lists trail while it is looked for. @default 0 */
  listLag?: number;
  /** It takes a failing read, or an error other than 409, to show. @default false */
  errorsToo?: boolean;
  /** It takes a hostile neighbour to show. @default false */
  neighbour?: boolean;
}

/** Mistakes that the enumerated mishaps have to notice: one for each rule that the protocols live on. */
export const PLANTED: readonly Planted[] = [
  {
    name: 'a create that another process may have sent counts as not sent',
    file: 'controllers/record/observations.ts',
    find: "memory.intent = { text: noted, seenAt: now, outcome: 'unknown' };",
    replace: "memory.intent = { text: noted, seenAt: now, outcome: 'unsent' };",
    workloads: ['instance with'],
  },
  {
    name: 'a create whose answer was lost is sent again at once',
    file: 'controllers/record/effects.ts',
    find: "memory.intent = { ...known, outcome: 'unknown', seenAt: clock.monotonic() };",
    replace: "memory.intent = { ...known, outcome: 'unsent', seenAt: clock.monotonic() };",
    workloads: ['instance with'],
  },
  {
    name: 'a list counts as proof before the lag window is over',
    file: 'controllers/record/identity/intent.ts',
    find: 'return since + POST_TIMEOUT_MS + lagWindowMs;',
    replace: 'return since + 0 * (POST_TIMEOUT_MS + lagWindowMs);',
    workloads: ['instance with'],
    listLag: 5,
  },
  {
    name: 'the create-intent stays after the claim',
    file: 'controllers/record/effects.ts',
    find: '...this.#kind.claimExtras?.(intent, { uid, record: id }),\n      [ANNOTATIONS.createIntent]: null,',
    replace: '...this.#kind.claimExtras?.(intent, { uid, record: id }),',
    workloads: ['policy box'],
  },
  {
    name: 'metadata is written without the version that was seen',
    file: 'controllers/record/metadata.ts',
    find: 'const options = { resourceVersion, signal };',
    replace: 'const options = { ...{ resourceVersion }, resourceVersion: undefined, signal };',
    workloads: ['policy box'],
  },
  {
    name: 'a marker is taken for ours when it only begins like it',
    file: 'controllers/instance/kind.ts',
    find: 'record.tags?.includes(marker)',
    replace: 'record.tags?.some((tag) => tag.startsWith(marker))',
    workloads: ['instance with'],
  },
  {
    name: 'a terminated instance of an earlier life is claimed',
    file: 'controllers/record/identity/search.ts',
    find: "if (fresh.ending === 'terminated') terminated.push(fresh.id);",
    replace: "if (fresh.ending === 'terminated') living.push(fresh.id);",
    workloads: ['instance with'],
  },
  {
    name: 'the finalizer goes when the delete got no answer',
    file: 'controllers/record/effects.ts',
    find: "return deletion.kind === 'sent'\n",
    replace:
      "if (deletion.kind !== 'sent') return this.release(resource, pass.signal);\n    return deletion.kind === 'sent'\n",
    workloads: ['instance with'],
    errorsToo: true,
  },
  {
    name: 'the finalizer goes without waiting for a create whose outcome is unknown',
    file: 'controllers/record/decide/deletion.ts',
    find: "if (seen.intent?.outcome === 'unknown' && seen.search.startedAt",
    replace: "if (seen.intent?.outcome === 'unsent' && seen.search.startedAt",
    workloads: ['deleted while'],
    listLag: 5,
  },
  {
    name: 'nothing is noted before the first delete',
    file: 'controllers/record/effects.ts',
    find: "if (step.how === 'delete' && isUnnoted(resource)) {",
    replace: "if (step.how === '' && isUnnoted(resource)) {",
    workloads: ['policy box', 'instance with'],
    listLag: 5,
  },
  {
    name: 'one 404 is proof that a record is gone',
    file: 'controllers/record/existence.ts',
    find: 'countedAt: startedAt };\n      return again(spacing);',
    replace: "countedAt: startedAt };\n      return { kind: 'absent', [proof]: true };",
    workloads: ['policy box', 'box'],
    errorsToo: true,
    listLag: 5,
  },
  {
    name: 'an operation that another process may have sent counts as not sent',
    file: 'controllers/instance/operation/run.ts',
    find: "        key,\n        outcome: 'unknown',\n",
    replace: "        key,\n        outcome: 'unsent',\n",
    workloads: ['operate'],
  },
  {
    name: 'an operation whose answer was lost is sent again at once',
    file: 'controllers/instance/operation/run.ts',
    find: "memory.operation = { ...sent, outcome: 'unknown', quietSince: this.#context.clock.monotonic() };",
    replace:
      "memory.operation = { ...sent, outcome: 'unsent', quietSince: this.#context.clock.monotonic() };",
    workloads: ['quick operations'],
  },
  {
    name: 'an operation is over when any operation is over',
    file: 'controllers/instance/operation/follow.ts',
    find: 'const ours = newer?.filter((operation) => isOurs(operation, current.event, seen.user)) ?? [];',
    replace:
      'const ours = newer === undefined ? [] : (seen.operations as { records: OperationRecord[] }).records;',
    workloads: ['operate'],
  },
  {
    name: 'a request counts as carried out when it is begun',
    file: 'controllers/instance/operation/run.ts',
    find: '        currentOperation: current,\n',
    replace:
      '        currentOperation: current,\n        ...(step.token === undefined ? {} : { handledRequests: { [step.token.of]: step.token.value }, currentOperation: undefined }),\n',
    workloads: ['operate'],
  },
  {
    name: 'a PUT without an answer counts as done',
    file: 'controllers/draft/converge.ts',
    find: "  if (write.kind !== 'ok') {\n    if (write.kind !== 'unknown') memory.put",
    replace:
      "  if (write.kind === 'unknown') return { verdict: verdict('Settled', 'Done'), fields: inPlace(draft, urlOf, plan.body) };\n  if (write.kind !== 'ok') {\n    if (write.kind !== 'unknown') memory.put",
    workloads: ['policy box'],
    errorsToo: true,
  },
  {
    name: 'a condition changes its time each time that it is looked at',
    file: 'controllers/record/status/verdict.ts',
    find: '? before.lastTransitionTime',
    replace: '? context.now',
    workloads: ['policy box'],
  },
  {
    name: 'a seal holds for whoever has copied it',
    file: 'controllers/record/identity/seal.ts',
    find: "    if (this.#hash(keyId, 'claim', of, [id, endpoint, owner]) !== hash) return { kind: 'false' };\n",
    replace: '',
    workloads: ['policy box', 'instance with'],
    neighbour: true,
  },
];
