import type { Court, Judge } from './judge.ts';

interface Parts {
  variables: Set<string>;
  tags: Set<string>;
  members: Set<string>;
}

/**
 * A PUT is made from the newest that was seen of the record, so that what others added stays: whatever the last
 * single answer held and we never sent ourselves is in it again. And it is not made from what was read before the
 * last write to the record was answered.
 */
export function oldBase(court: Court): Judge {
  const seen = new Map<string, { parts: Parts; at: number }>();
  const ours = new Map<string, Parts>();
  const ended = new Map<string, number>();
  return {
    calling(call) {
      if (call.record === undefined || call.method !== 'PUT' || !isContent(call.path)) return;
      const { id } = call.record;
      const base = seen.get(id);
      const what = `PUT ${call.path} for ${call.by}`;
      if (base === undefined) court.object(`${what}: nothing was read of it before`);
      else if (base.at < (ended.get(id) ?? -Infinity))
        court.object(`${what}: made from what was read before the last write was answered`);
      const sent = partsOf(call.body);
      const mine = ours.get(id) ?? none();
      if (base !== undefined) {
        for (const part of ['variables', 'tags', 'members'] as const) {
          const lost = [...base.parts[part].difference(sent[part])].filter((name) => !mine[part].has(name));
          const kept = part in (call.body as object) ? lost : [];
          const strange = kept.filter((name) => !/^bw-[a-z2-7]{8}-/.test(name));
          if (strange.length > 0)
            court.object(`${what}: takes away ${part} that others added: ${strange.join(', ')}`);
        }
      }
      ours.set(id, joined(mine, sent));
    },
    called(call) {
      const { id } = (call.answer ?? {}) as { id?: string };
      if (call.method === 'POST' && id !== undefined) ours.set(id, partsOf(call.body));
      if (
        call.record !== undefined &&
        call.method !== 'GET' &&
        call.status !== undefined &&
        call.status < 300
      )
        ended.set(call.record.id, call.at);
      if (typeof id !== 'string' || call.status === undefined || call.status >= 300) return;
      if (call.record?.id === id || call.method === 'POST')
        seen.set(id, { parts: partsOf(call.answer), at: call.at });
    },
    changed({ now }) {
      // What status says is managed was put there by an operator before this world, or is being adopted.
      const { id, managed } = (now?.status ?? {}) as {
        id?: string;
        managed?: Partial<Record<keyof Parts, string[]>>;
      };
      if (id === undefined || managed === undefined) return;
      const mine = ours.get(id) ?? none();
      ours.set(id, {
        variables: mine.variables.union(new Set((managed.variables ?? []).map(plain))),
        tags: mine.tags.union(new Set(managed.tags ?? [])),
        members: mine.members.union(new Set(managed.members ?? [])),
      });
    },
  };
}

function isContent(path: string): boolean {
  return /^\/services\/(instances|boxes)\/[^/?]+$/.test(path);
}

function partsOf(body: unknown): Parts {
  const { variables, tags, members } = (body ?? {}) as {
    variables?: { name: string; scope?: string }[];
    tags?: string[];
    members?: { workspace?: string }[];
  };
  return {
    variables: new Set(
      (Array.isArray(variables) ? variables : []).map(({ name, scope = '' }) =>
        scope === '' ? name : `${scope}.${name}`,
      ),
    ),
    tags: new Set(Array.isArray(tags) ? tags : []),
    members: new Set((Array.isArray(members) ? members : []).map((member) => JSON.stringify(member))),
  };
}

/** `scope:NAME` of status as `scope.NAME`. */
function plain(name: string): string {
  const at = name.lastIndexOf(':');
  return at < 0 ? name : `${name.slice(0, at)}.${name.slice(at + 1)}`;
}

function none(): Parts {
  return { variables: new Set(), tags: new Set(), members: new Set() };
}

function joined(a: Parts, b: Parts): Parts {
  return {
    variables: a.variables.union(b.variables),
    tags: a.tags.union(b.tags),
    members: a.members.union(b.members),
  };
}
