import { beforeEach, describe, expect, it } from 'vitest';
import { CONNECTION, World, type WorldOptions } from '../support/world.ts';
import { ServiceTransportError, type PortRequest } from '../../src/service/index.ts';

interface BoxDoc {
  id: string;
  name: string;
  description: string;
  version?: { box: string; number: { major: number; minor: number; patch: number }; description: string };
}

const MINUTE = 60_000;
const VERSIONS = '/services/boxes/{box_id}/versions';

const box = (spec: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  description: Front
  events: {install: {inline: "echo one"}}
${spec}
`;

let world: World;
/** What becomes of the calls that make a version: `lost` ones take effect, and their answers get lost. */
let fate: (() => 'sent' | 'lost' | 'unsent' | 'refused') | undefined;
/** What happens before the versions are listed. */
let beforeList: (() => Promise<void>) | undefined;
/** How versions read, in the list and singly. */
let listed: ((text: string) => string) | undefined;

const REFUSAL = { status: 400, headers: {}, body: Buffer.from('{"message":"Refused"}') };
const isVersion = ({ method, body }: PortRequest): boolean =>
  method === 'PUT' && Buffer.from(body ?? '').includes('"version":{');

async function begin(options: WorldOptions = {}): Promise<void> {
  fate = undefined;
  beforeList = undefined;
  listed = undefined;
  world = new World({
    ...options,
    servicePort: (port) => ({
      send: async (request) => {
        const what = isVersion(request) ? (fate?.() ?? 'sent') : 'sent';
        if (what === 'unsent') throw new ServiceTransportError('Broken', 'broken', { maybeSent: true });
        if (what === 'refused') return REFUSAL;
        const isList = request.method === 'GET' && request.path.endsWith('/versions');
        if (isList) await beforeList?.();
        const answer = await port.send(request);
        const isOne = request.method === 'GET' && Buffer.from(answer.body).includes('"version":{');
        if ((isList || isOne) && listed !== undefined) {
          const { status: code, headers, body } = answer;
          return { status: code, headers, body: Buffer.from(listed(Buffer.from(body).toString())) };
        }
        if (what === 'lost') throw new ServiceTransportError('Broken', 'broken', { maybeSent: true });
        return answer;
      },
    }),
  });
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.ready('Connection', 'main') === 'True');
}

const reason = (type: string): string | undefined => {
  const found = world.condition('Box', 'web', type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};
const boxes = (): BoxDoc[] => world.sandbox.admin.records('boxes') as unknown as BoxDoc[];
const draft = (): BoxDoc => boxes().find(({ version }) => version === undefined) as BoxDoc;
const versions = (): string[] =>
  boxes()
    .flatMap(({ version }) => (version === undefined ? [] : [version.number]))
    .map(({ major, minor, patch }) => `${major}.${minor}.${patch}`)
    .toSorted();
const status = (): Record<string, unknown> => world.get('Box', 'web')?.status ?? {};
const published = (limitMs?: number): Promise<void> =>
  world.until(() => reason('Ready') === 'True Settled' && reason('Published') === 'True Published', limitMs);
const publish = (version: string, more: object = {}): Promise<void> =>
  world.edit('Box', 'web', { publish: { version }, ...more });
/** Somebody else makes a version of what the draft is now. */
const publishAs = async (token: string, number: object): Promise<void> => {
  await world.sandbox.handle({
    method: 'PUT',
    path: `/services/boxes/${draft().id}`,
    headers: { 'service-token': token, 'service-release': '4.0', 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ version: { number }, description: 'Of somebody else' })),
  });
};
const lists = (): number => world.sandbox.admin.calls({}).filter(({ route }) => route === VERSIONS).length;

describe('a version', () => {
  beforeEach(() => begin());

  it('is made once the content is in place, and never again', async () => {
    await world.apply(box('  publish: {version: 1.4.0, description: TLS}'));
    await published();
    expect(versions()).toEqual(['1.4.0']);
    const made = boxes().find(({ version }) => version !== undefined);
    expect(made).toMatchObject({ description: 'Front', version: { box: draft().id, description: 'TLS' } });
    expect(status()).toMatchObject({
      versions: [{ number: '1.4.0', id: made?.id }],
      published: { number: '1.4.0', id: made?.id },
      draftFrom: made?.id,
    });
    expect(status()['publishing']).toBeUndefined();
    await world.advance(3 * 3_600_000);
    world.kill();
    world.start();
    await world.advance(3_600_000);
    expect(versions()).toEqual(['1.4.0']);
    await published();
  });

  it('stays as it is when the content goes on, which Published says and Ready does not mind', async () => {
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    await world.edit('Box', 'web', { description: 'Back' });
    await world.until(() => draft().description === 'Back' && reason('Ready') === 'True Settled');
    expect(reason('Published')).toBe('False DraftAhead');
    expect(versions()).toEqual(['1.0.0']);
    await world.edit('Box', 'web', { description: 'Front' });
    await published();
    await publish('1.1.0', { description: 'Back' });
    await world.until(() => versions().length === 2);
    await published();
    expect(status()['versions']).toMatchObject([{ number: '1.1.0' }, { number: '1.0.0' }]);
  });

  it('is made of new content and a new number that come together only when that content is in place', async () => {
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    await publish('2.0.0', { events: { install: { inline: 'echo two' } } });
    await world.until(() => versions().includes('2.0.0'));
    const [two] = boxes().filter(({ version }) => version?.number.major === 2) as unknown as {
      fields: { events: unknown };
    }[];
    expect(two?.fields.events).toEqual((draft() as unknown as { fields: { events: unknown } }).fields.events);
  });

  it('is no other’s: a number that exists with other content is refused, and nothing is changed', async () => {
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    const { id } = draft();
    await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await world.delete('Box', 'web');
    await world.until(() => world.get('Box', 'web') === undefined);
    const before = boxes().filter(({ version }) => version !== undefined);
    const adopted = (text: string): string =>
      box('  publish: {version: 1.0.0}')
        .replace('{name: web}', `{name: web, annotations: {boxwright.dev/adopt: ${id}}}`)
        .replace('echo one', text);
    await world.apply(adopted('echo other'));
    await world.until(() => reason('Ready') === 'False VersionTaken');
    expect(reason('Published')).toBe('False VersionTaken');
    expect(boxes().filter(({ version }) => version !== undefined)).toEqual(before);
    const asked = lists();
    await world.advance(3_600_000);
    expect(lists() - asked).toBeLessThan(8);
    // The same content, though its file was uploaded anew, is that version.
    await world.apply(adopted('echo one'));
    await published();
    expect(versions()).toEqual(['1.0.0']);
    expect(status()['published']).toMatchObject({ id: before[0]?.id });
  });

  it('is told by what is deployed, wherever its icon and its scripts are said to be', async () => {
    const icons = 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: icons}\nbinaryData: {web.png: aGk=}\n';
    await world.apply(icons);
    const spec = '  publish: {version: 1.0.0}\n  icon: {configMapKeyRef: {name: icons, key: web.png}}';
    await world.apply(box(spec));
    await published();
    const { id } = draft();
    const version = boxes().find((one) => one.version !== undefined) as BoxDoc;
    const again = async (): Promise<void> => {
      await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
      await world.delete('Box', 'web');
      await world.until(() => world.get('Box', 'web') === undefined);
      const adopt = `{name: web, annotations: {boxwright.dev/adopt: ${id}}}`;
      await world.apply(box(spec).replace('{name: web}', adopt));
    };
    world.sandbox.admin.editRecord('boxes', version.id, { icon: 'https://icons.example.com/web.png' });
    await again();
    await published();
    listed = (text) => text.replaceAll('/services/blobs/download/', 'https://files.example.com/');
    await again();
    await world.until(() => reason('Published') !== undefined);
    expect([reason('Ready'), reason('Published')]).toEqual(['False VersionTaken', 'False VersionTaken']);
  });

  it('is tried at once with another description, where the service refuses one', async () => {
    fate = () => 'refused';
    await world.apply(box('  publish: {version: 1.0.0, description: Refused}'));
    await world.until(() => reason('Published') === 'False Refused');
    fate = undefined;
    await world.edit('Box', 'web', { publish: { version: '1.0.0', description: 'Taken' } });
    await published(MINUTE);
    expect(versions()).toEqual(['1.0.0']);
  });

  it('stays when it is declared no more, and is the same when it is declared again', async () => {
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    const { published: before } = status();
    await world.edit('Box', 'web', { publish: null });
    await world.until(() => reason('Published') === undefined && reason('Ready') === 'True Settled');
    await publish('1.0.0');
    await published();
    expect(status()['published']).toEqual(before);
    expect(versions()).toEqual(['1.0.0']);
  });

  it.each(['Report', 'Ignore'])(
    'is not made while the record differs, and %s leaves it so',
    async (policy) => {
      await world.apply(box(`  driftPolicy: ${policy}`));
      await world.until(() => reason('Ready') === 'True Settled');
      world.sandbox.admin.editRecord('boxes', draft().id, { description: 'Theirs' });
      await publish('1.0.0');
      await world.until(() => reason('Published') === 'False Drifted');
      expect(reason('Ready')).toBe('True Settled');
      await world.advance(MINUTE);
      expect(versions()).toEqual([]);
      await world.edit('Box', 'web', { driftPolicy: 'Correct' });
      await published();
      expect(boxes().find(({ version }) => version !== undefined)?.description).toBe('Front');
      // One that is there stays what it is, whatever becomes of the record.
      await world.edit('Box', 'web', { driftPolicy: policy });
      world.sandbox.admin.editRecord('boxes', draft().id, { description: 'Theirs' });
      await world.annotate('Box', 'web', { 'boxwright.dev/requested-at': '1' });
      await world.advance(MINUTE);
      await published();
    },
  );

  it('shows the newest ten in status', async () => {
    await world.apply(box(''));
    for (let minor = 1; minor <= 12; minor++) {
      await publish(`1.${minor}.0`);
      await world.until(() => (status()['published'] as { number?: string })?.number === `1.${minor}.0`);
    }
    const shown = status()['versions'] as { number: string }[];
    expect(shown.map(({ number }) => number)).toEqual(Array.from({ length: 10 }, (_, i) => `1.${12 - i}.0`));
  });

  it('that somebody else has made is shown with the next single read', async () => {
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    const mine = boxes().find(({ version }) => version !== undefined) as BoxDoc;
    await publishAs('token-of-ops', { major: 3, minor: 0, patch: 0 });
    await world.annotate('Box', 'web', { 'boxwright.dev/requested-at': '1' });
    await world.until(() => (status()['versions'] as unknown[]).length === 2);
    expect(status()['versions']).toMatchObject([{ number: '3.0.0' }, { number: '1.0.0', id: mine.id }]);
  });
});

describe('a version whose making is interrupted', () => {
  beforeEach(() => begin());

  it('is found where only the answer was lost', async () => {
    fate = () => 'lost';
    await world.apply(box('  publish: {version: 1.0.0}'));
    await published();
    expect(versions()).toEqual(['1.0.0']);
  });

  it('is sent again only when no read can trail the call any longer', async () => {
    let sent = 0;
    fate = () => (++sent === 1 ? 'unsent' : 'sent');
    await world.apply(box('  publish: {version: 1.0.0}'));
    await world.until(() => sent === 1);
    await world.advance(MINUTE);
    expect(sent).toBe(1);
    await published();
    expect([sent, versions()]).toEqual([2, ['1.0.0']]);
  });

  it('is made once by whoever comes after a process that died before, in or after the call', async () => {
    await world.apply(box(''));
    await world.until(() => reason('Ready') === 'True Settled');
    let number = 0;
    for (const end of ['unsent', 'sent', 'lost'] as const) {
      number += 1;
      fate = () => {
        world.kill();
        return end;
      };
      await publish(`${number}.0.0`);
      await world.until(() => !world.isRunning);
      await world.advance(1_000);
      fate = undefined;
      world.start();
      await published(10 * MINUTE);
      expect(status()['published']).toMatchObject({ number: `${number}.0.0` });
    }
    expect(versions()).toEqual(['1.0.0', '2.0.0', '3.0.0']);
  });

  it('is not ours where somebody else makes other content of that number before it is sent', async () => {
    let turn = 0;
    beforeList = async () => {
      if (status()['publishing'] === undefined || ++turn > 1) return;
      await publishAs('token-of-ops', { major: 1, minor: 0, patch: 0 });
    };
    await world.apply(box('  publish: {version: 1.0.0}'));
    await world.until(() => versions().length > 0 && status()['publishing'] === undefined);
    expect(reason('Published')).toBe('False VersionTaken');
    expect(status()['published']).toBeUndefined();
    expect(versions()).toEqual(['1.0.0']);
  });

  it('is not made twice of what a service takes without effect, and the reason says so', async () => {
    let sent = 0;
    fate = () => {
      sent += 1;
      return 'unsent';
    };
    await world.apply(box('  publish: {version: 1.0.0}'));
    await world.until(() => sent === 3, 3_600_000);
    expect(reason('Ready')).toMatch(/^False /);
    expect(reason('Published')).toMatch(/^False /);
    expect(versions()).toEqual([]);
    fate = undefined;
    await published(3_600_000);
    expect(versions()).toEqual(['1.0.0']);
  });
});
