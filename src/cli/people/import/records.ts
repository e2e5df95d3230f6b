import { Priority } from '../../../base/priority.ts';
import type { AnyRecord, BoxRecord, InstanceRecord, Read } from '../../../service/index.ts';
import { CommandFailedError } from '../../exit-codes.ts';
import { printable } from '../../terminal.ts';
import type { Service } from '../service.ts';

/** Everything that a workspace has. */
export interface Records {
  boxes: readonly BoxRecord[];
  instances: readonly InstanceRecord[];
  /** What there is no kind for, or what belongs to somebody else, a line each. */
  others: readonly string[];
}

/** Single reads that are under way at one time; the pace of the Connection holds as well. */
const AT_ONCE = 8;

/** Which records are wanted. */
export interface Wanted {
  workspace: string;
  kinds: ReadonlySet<string>;
  isNamed: (name: string) => boolean;
}

/**
 * Reads the records of a workspace, each singly, since an entry of a list may lack parts (service-behaviour.md 2.4).
 * @throws CommandFailedError where a list cannot be read
 */
export async function readRecords(
  { client }: Pick<Service, 'client'>,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Records> {
  const { workspace, kinds, isNamed } = wanted;
  const options = (): { signal: AbortSignal; priority: Priority } => ({
    signal,
    priority: new Priority('edit'),
  });
  const others: string[] = [];
  const listed = async <T extends AnyRecord>(
    what: string,
    read: Promise<Read<readonly T[]>>,
  ): Promise<T[]> => {
    const answer = await read;
    if (answer.kind === 'found') return answer.record.filter(({ name = '' }) => isNamed(name)).toSorted(byId);
    const why = answer.kind === 'missing' ? 'the service answers 404' : answer.error.message;
    throw new CommandFailedError(`the ${what} of workspace ${workspace} cannot be read: ${why}`);
  };
  const names = await ownerNames(client, workspace, options());
  const mine = <T extends AnyRecord>(noun: string, all: readonly T[]): T[] =>
    all.filter((record) => {
      const isMine = record.owner === undefined || names.has(record.owner);
      if (!isMine)
        others.push(`${noun} ${titled(record)} belongs to ${quoted(record.owner)}: import that workspace`);
      return isMine;
    });
  const single = async <T extends AnyRecord>(
    noun: string,
    all: readonly T[],
    read: (id: string) => Promise<Read<T>>,
  ): Promise<T[]> => {
    const found: T[] = [];
    const rest = [...all];
    const work = async (): Promise<void> => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const answer = await read(next.id);
        signal.throwIfAborted();
        if (answer.kind === 'found') found.push(answer.record);
        else {
          const why = answer.kind === 'missing' ? 'the service answers 404' : answer.error.message;
          others.push(`${noun} ${titled(next)} cannot be read: ${why}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return found.toSorted(byId);
  };

  const wantsBoxes = kinds.has('Box') || kinds.has('PolicyBox');
  const boxList = wantsBoxes ? await listed('boxes', client.workspaces.boxes(workspace, options())) : [];
  const isWanted = ({ schema = '' }: BoxRecord): boolean =>
    kinds.has(schema.endsWith('/policy') ? 'PolicyBox' : 'Box');
  const boxes = await single('Box', mine('Box', boxList.filter(isWanted)), (id) =>
    client.boxes.read(id, options()),
  );
  const instanceList = kinds.has('Instance')
    ? await listed('instances', client.workspaces.instances(workspace, options()))
    : [];
  const instances = await single('Instance', mine('Instance', instanceList), (id) =>
    client.instances.read(id, options()),
  );
  if (kinds.has('Provider')) {
    for (const provider of await listed('providers', client.workspaces.providers(workspace, options())))
      others.push(
        `Provider ${titled(provider)}: no kind of Boxwright declares it; policy boxes name it by its id`,
      );
  }
  if (kinds.has('Workspace')) {
    for (const one of await listed('workspaces', client.workspaces.list(options())))
      others.push(`Workspace ${titled(one)}: no kind of Boxwright declares it`);
  }
  if (kinds.has('Organization')) {
    const organizations = new Set(boxes.flatMap(({ organization }) => organization ?? []));
    for (const name of [...organizations].toSorted())
      others.push(`Organization ${quoted(name)}: no kind of Boxwright declares it`);
  }
  return { boxes, instances, others: others.toSorted() };
}

/** What the service may call the owner of what a workspace has: its id, or the name of its user. */
async function ownerNames(
  client: Service['client'],
  workspace: string,
  options: { signal: AbortSignal; priority: Priority },
): Promise<ReadonlySet<string>> {
  const read = await client.workspaces.list(options);
  const own = read.kind === 'found' ? read.record.find(({ id }) => id === workspace) : undefined;
  return new Set([workspace, ...[own?.name, own?.email].filter((name) => name !== undefined)]);
}

/** How a list calls a record. */
export function titled({ name, id }: AnyRecord): string {
  return `${quoted(name)} (${printable(id)})`;
}

function quoted(text: string | undefined): string {
  return JSON.stringify(printable(text ?? ''));
}

function byId(a: AnyRecord, b: AnyRecord): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
