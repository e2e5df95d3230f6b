import { describe, expect, it } from 'vitest';
import type { BoxRecord, EventRecord } from '../../service/index.ts';
import { testFile } from '../content/test-file.ts';
import type { DesiredFile } from '../content/variables.ts';
import type { Difference } from '../record/differences.ts';
import {
  fieldDifferences,
  filesOf,
  planUpdate,
  unshownIn,
  type DesiredEvent,
  type Draft,
  type Managed,
  type Plan,
} from './draft.ts';

const file = (path: string): DesiredFile =>
  testFile(path, path, { fileName: path, hmac: `hmac of ${path}`, shown: `hmac of ${path}` });
const script = (event: string, destinationPath?: string): DesiredEvent => ({
  event,
  destinationPath,
  file: file(`events.${event}`),
});
const urlOf = ({ path }: DesiredFile): EventRecord => ({ url: `/blobs/${path}`, length: 7 });

function draft(more: Partial<Draft> = {}): Draft {
  return {
    name: 'web',
    fields: {},
    asked: {},
    variables: [],
    events: [],
    attachments: [],
    members: [],
    hash: 'h',
    ...more,
  };
}

const NOTHING: Managed = { variables: [], events: [], profile: [], members: [], attachments: {} };

function plan(record: object, declared: Draft, managed: Partial<Managed> = {}): Plan {
  const full: BoxRecord = { id: 'b', name: 'web', ...record };
  return planUpdate(full, declared, { ...NOTHING, ...managed }, urlOf);
}

/** Fields among those that a service may keep which an answer shows otherwise. */
const keptFields = (answer: BoxRecord, declared: Draft): Difference[] =>
  unshownIn(answer, declared, NOTHING, urlOf).kept;

const same = (have: unknown, want: unknown): boolean =>
  fieldDifferences({ field: have }, { field: want }).length === 0;
const fieldsIn = ({ differences }: Pick<Plan, 'differences'>): string[] =>
  differences.map(({ field }) => field);

describe('what is put on a record', () => {
  it('is the record as read with the declared laid over it: what others added stays', () => {
    const { body, differences } = plan(
      { name: 'bw-marker', description: 'Old', icon: '/icons/1', unknown: { a: 1 } },
      draft({ fields: { description: 'New' }, asked: { claims: ['Linux'] } }),
    );
    expect(body).toMatchObject({
      id: 'b',
      name: 'web',
      description: 'New',
      icon: '/icons/1',
      unknown: { a: 1 },
      claims: ['Linux'],
    });
    expect(differences).toEqual([
      { field: 'description', want: 'New', have: 'Old' },
      { field: 'claims', want: '["Linux"]', have: expect.any(String) },
      { field: 'name', want: 'web', have: 'bw-marker' },
    ]);
  });

  it('has the addresses of uploaded files as values of File variables', () => {
    const variable = {
      key: 'CONF',
      name: 'CONF',
      scope: '',
      wire: { name: 'CONF', type: 'File' },
      file: file('variables.CONF'),
    };
    expect(plan({}, draft({ variables: [variable] })).body.variables).toEqual([
      { name: 'CONF', type: 'File', value: '/blobs/variables.CONF' },
    ]);
    expect(
      filesOf(draft({ variables: [variable], events: [script('install')] })).map(({ path }) => path),
    ).toEqual(['events.install', 'variables.CONF']);
  });
});

describe('scripts of events', () => {
  const installed = {
    events: { install: { url: '/blobs/events.install', destination_path: '/opt', upload_date: 'd' } },
  };

  it('are in place when address and path are the same, whatever the service adds', () => {
    expect(plan(installed, draft({ events: [script('install', '/opt')] })).differences).toEqual([]);
    expect(plan(installed, draft({ events: [script('install')] })).differences).toEqual([]);
  });

  it('are told apart by content and by path', () => {
    const other = { events: { install: { url: '/blobs/other' } } };
    expect(fieldsIn(plan(other, draft({ events: [script('install')] })))).toEqual(['events.install']);
    expect(fieldsIn(plan(installed, draft({ events: [script('install', '/srv')] })))).toEqual([
      'events.install.destinationPath',
    ]);
    expect(fieldsIn(plan({}, draft({ events: [script('install')] })))).toEqual(['events.install']);
  });

  it('lose a path that is not declared any more', () => {
    const { body } = plan(installed, draft({ events: [script('install')] }));
    expect(body.events).toMatchObject({ install: { url: '/blobs/events.install', upload_date: 'd' } });
  });

  it('that were ours go, and those of others stay', () => {
    const record = { events: { install: { url: '/a' }, start: { url: '/b' }, stop: { url: '/c' } } };
    const { body, differences } = plan(record, draft({ events: [script('install')] }), {
      events: ['install', 'start'],
    });
    expect(Object.keys(body.events ?? {}).toSorted()).toEqual(['install', 'stop']);
    expect(differences).toContainEqual({ field: 'events.start', want: 'absent', have: '/b' });
  });

  it('are no part of a record that has none and gets none', () => {
    expect(plan({}, draft()).body).not.toHaveProperty('events');
  });
});

const withProfile = (profile: object): Draft => draft({ asked: { profile } });

// B7
describe('the profile of a policy box', () => {
  it('keeps what others added inside it when something else is edited', () => {
    const profile = { flavor: 's', added: 1, tags: { env: 'x', theirs: 'z' } };
    const { body, differences } = plan(
      { profile, description: 'Old' },
      { ...withProfile({ flavor: 's', tags: { env: 'x' } }), fields: { description: 'New' } },
      { profile: ['/flavor', '/tags/env'] },
    );
    expect(body.profile).toEqual(profile);
    expect(differences).toEqual([{ field: 'description', want: 'New', have: 'Old' }]);
  });

  it('loses what was declared before and is no more, and nothing else', () => {
    const { body, differences } = plan(
      { profile: { flavor: 's', keypair: 'ours', added: 1 } },
      withProfile({ flavor: 'm' }),
      { profile: ['/flavor', '/keypair'] },
    );
    expect(body.profile).toEqual({ flavor: 'm', added: 1 });
    expect(differences).toEqual([
      { field: 'profile.flavor', want: 'm', have: 's' },
      { field: 'profile.keypair', want: 'absent', have: 'ours' },
    ]);
  });

  // B10
  it('may be kept without what is null or empty by a service that drops that', () => {
    const profile = { image: 'test', subnet: null, tags: {}, nested: { a: null, b: [] }, labels: [] };
    const answer = { id: 'b', profile: { image: 'test' } } as BoxRecord;
    expect(keptFields(answer, withProfile(profile)).map(({ field }) => field)).toEqual([]);
    expect(plan({ profile: { image: 'test' } }, withProfile(profile)).differences).toEqual([]);
  });

  it('names the property that the service keeps', () => {
    const answer = { id: 'b', profile: { image: 'test', flavor: 's', subnet: 'old' } } as BoxRecord;
    const wanted = withProfile({ image: 'test', flavor: 'm', subnet: null });
    expect(keptFields(answer, wanted).map(({ field }) => field)).toEqual([
      'profile.flavor',
      'profile.subnet',
    ]);
  });

  // B5
  it('shows a whole number of any size as it is', () => {
    const wanted = withProfile({ max_ttl: 9007199254740993n });
    expect(plan({ profile: { max_ttl: 9007199254740993n } }, wanted).differences).toEqual([]);
    expect(plan({ profile: { max_ttl: 9007199254740992n } }, wanted).differences).toEqual([
      { field: 'profile.max_ttl', want: '9007199254740993', have: '9007199254740992' },
    ]);
  });
});

describe('whether a record shows what is declared', () => {
  it('takes lists of words as sets and other lists in their order', () => {
    expect(same(['b', 'a'], ['a', 'b'])).toBe(true);
    expect(same(['a', 'b'], ['a'])).toBe(false);
    expect(same([{ a: 1 }, { b: 2 }], [{ b: 2 }, { a: 1 }])).toBe(false);
  });

  it('looks in objects at what is declared alone', () => {
    expect(same({ flavor: 'm', image: 'x', added: 1 }, { flavor: 'm', image: 'x' })).toBe(true);
    expect(same({ flavor: 'm' }, { flavor: 'm', image: 'x' })).toBe(false);
    expect(same(undefined, { flavor: 'm' })).toBe(false);
  });

  it('takes a number and its text for the same, as builds of the service differ in that', () => {
    expect(same('1', 1)).toBe(true);
    expect(same({ instances: 1 }, { instances: '1' })).toBe(true);
    expect(same(true, 'true')).toBe(true);
    expect(same('2', 1)).toBe(false);
  });

  it('takes nothing for empty, since not every build says what is empty', () => {
    for (const empty of ['', false, []]) {
      expect(same(undefined, empty)).toBe(true);
      expect(same(null, empty)).toBe(true);
    }
    expect(same(undefined, { operation: 'none' })).toBe(true);
    expect(same({ operation: 'terminate' }, { operation: 'none' })).toBe(false);
    expect(same('text', '')).toBe(false);
    expect(same(['a'], [])).toBe(false);
    expect(same(undefined, 0)).toBe(false);
  });

  it('says which of the fields that a service may keep it has kept', () => {
    const declared = draft({
      fields: { description: 'New' },
      asked: { claims: ['Linux'], visibility: 'public' },
    });
    const answer = { id: 'b', description: 'Old', claims: ['Linux'], visibility: 'workspace' } as BoxRecord;
    expect(keptFields(answer, declared)).toEqual([
      { field: 'visibility', want: 'public', have: 'workspace' },
    ]);
  });
});
