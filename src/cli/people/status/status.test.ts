import { describe, expect, it } from 'vitest';
import { paintFor } from '../../terminal.ts';
import { readKindName } from '../kind-name.ts';
import { chosen } from './chosen.ts';
import { entryOf } from './entry.ts';
import { flat, forestOf } from './forest.ts';
import { isWell, statusObject } from './report.ts';
import { seen, SHOP } from './test-resource.ts';
import { statusLines, statusShown } from './text.ts';

const plain = paintFor({ write: () => undefined }, {});
const NOW = Date.UTC(2026, 0, 1, 0, 1);

function text(resources = SHOP, width = Number.POSITIVE_INFINITY): string[] {
  return statusLines(forestOf(resources), { width, paint: plain, now: NOW, byNamespace: false });
}

/** What is said of a Box whose version stands so. */
function boxOfVersion(status: string, reason: string): string[] {
  const message = 'of this or that';
  const published = { type: 'Published', status, reason, message, observedGeneration: 1 };
  const ready = reason === 'VersionTaken' ? { status: 'False', reason, message } : {};
  return text([seen('Box', 'web', {}, ready, { conditions: [published] })]).map((line) => line.trim());
}

describe('the tree', () => {
  it('shows each resource under the one it belongs to, with what it waits for', () => {
    expect(text()).toEqual([
      'RESOURCE                         READY   REASON      SINCE   DETAILS',
      'Connection/main                  True    Settled     1m      https://deploy.example.com',
      '├─ Box/base                      True    Settled     1m',
      '├─ Box/web                       True    Settled     1m',
      '│  └─ Instance/web-eu            False   Deploying   1m      Deploying',
      '│     │  Waits for the end of deploy',
      '│     │  Operation deploy, begun 10s ago, counts as stuck at 2026-01-01T00:30:50Z',
      '│     └─ InstanceLease/evening   True    Settled     1m      web-eu  Shutdown',
      '└─ PolicyBox/small               True    Settled     1m',
      '',
      '6 resources: 5 Ready, 1 under way',
    ]);
  });

  it('names what is referred to and is not there', () => {
    expect(text(SHOP.filter(({ kind }) => kind !== 'Connection')).slice(0, 3)).toEqual([
      'RESOURCE                         READY   REASON      SINCE   DETAILS',
      'Connection/main                          not there',
      '├─ Box/base                      True    Settled     1m',
    ]);
    expect(text(SHOP.filter(({ kind }) => kind !== 'Connection')).at(-1)).toMatch(/1 not there$/);
  });

  it('puts an instance under its connection where the box is given by id', () => {
    const instance = seen('Instance', 'web', {
      connectionRef: { name: 'main' },
      boxId: 'x',
      policyBoxId: 'y',
    });
    expect(flat(forestOf([instance])).map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      'Connection/main',
      'Instance/web',
    ]);
  });

  it.each([60, 80, 200])('fits a terminal of %i columns', (width) => {
    const message = 'Waits for something that takes many words to say, '.repeat(5);
    const waiting = seen('Box', 'waiting', { connectionRef: { name: 'main' } }, { status: 'False', message });
    const lines = text([...SHOP, waiting], width);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines.join(' ').replaceAll(/[│\s]+/g, ' ')).toContain(message.trim());
  });

  it('says what a person does about what is stalled, and what else is true', () => {
    const stalled = {
      type: 'Stalled',
      status: 'True',
      reason: 'NameTaken',
      message: 'x',
      observedGeneration: 1,
    };
    const paused = {
      type: 'UpdateAvailable',
      status: 'True',
      reason: 'BoxChanged',
      message: 'web has changed',
    };
    const refused = seen(
      'Box',
      'web',
      { connectionRef: { name: 'main' } },
      { status: 'False', reason: 'NameTaken', message: 'web is taken' },
      { conditions: [stalled, { ...paused, observedGeneration: 1 }] },
    );
    const lines = text([refused]);
    expect(lines).toContain('      UpdateAvailable: web has changed');
    expect(lines.join('\n')).toContain('→ Set another spec.name');
    expect(lines.at(-1)).toBe('1 resource: 0 Ready, 1 stalled, 1 not there');
  });

  it('speaks of a version that is not of the present content, and not of one that is', () => {
    expect(boxOfVersion('True', 'Published').join()).not.toContain('of this or that');
    expect(boxOfVersion('False', 'DraftAhead')).toContain('Published: of this or that');
    // What Ready says already is said once.
    expect(boxOfVersion('False', 'VersionTaken')).not.toContain('Published: of this or that');
  });

  it('tells what no operator has looked at from what it has not looked at again', () => {
    const [untouched, changed] = [seen('Box', 'a', {}), seen('Box', 'b', {})];
    delete untouched?.status;
    if (changed !== undefined) changed.metadata.generation = 2;
    expect(entryOf(untouched ?? seen('Box', 'a', {})).message).toBe('No operator has looked at it yet');
    expect(entryOf(changed ?? seen('Box', 'b', {}))).toMatchObject({
      ready: 'Unknown',
      message: 'The operator has not seen the last change yet',
    });
  });

  it('lets no message write to the terminal', () => {
    const evil = seen('Box', 'web', {}, { status: 'False', message: 'a\u001b[2Jb\u0007\nc\u202ed' });
    expect(entryOf(evil).message).toBe('ab cd');
  });
});

function pick(...words: string[]): string[] {
  return flat(chosen(forestOf(SHOP), words.map(readKindName)).trees).map(
    ({ kind, name }) => `${kind}/${name}`,
  );
}

describe('what was named', () => {
  it('is shown with all above and below it', () => {
    expect(pick('box/web')).toEqual([
      'Connection/main',
      'Box/web',
      'Instance/web-eu',
      'InstanceLease/evening',
    ]);
    expect(pick('policyboxes')).toEqual(['Connection/main', 'PolicyBox/small']);
  });

  it('is named where it is not there', () => {
    expect(chosen(forestOf(SHOP), [readKindName('bwi/nothing')]).absent).toEqual(['Instance/nothing']);
  });

  it.each(['Instance/web', 'instances/web', 'bwi/web', 'instances.boxwright.dev/web'])(
    'may be %s',
    (word) => {
      expect(readKindName(word)).toMatchObject({ definition: { kind: 'Instance' }, name: 'web' });
    },
  );

  it.each(['pod/web', 'box/', 'box/a/b', ''])('is no resource: %j', (word) => {
    expect(() => readKindName(word)).toThrow(/write /);
  });
});

describe('the outcome for programs', () => {
  it('has the resources in the order of the tree, with what each belongs to', () => {
    const trees = forestOf(SHOP);
    expect(isWell(trees)).toBe(false);
    expect(statusObject(trees)).toMatchObject({
      kind: 'Status',
      total: 6,
      ready: 5,
      stalled: 0,
      resources: [
        {
          kind: 'Connection',
          name: 'main',
          ready: 'True',
          columns: { ENDPOINT: 'https://deploy.example.com' },
        },
        { kind: 'Box', name: 'base', parent: { kind: 'Connection', name: 'main' } },
        { name: 'web' },
        {
          name: 'web-eu',
          namespace: 'shop',
          parent: { kind: 'Box', name: 'web' },
          ready: 'False',
          reason: 'Deploying',
          since: '2026-01-01T00:00:00Z',
          operation: { event: 'deploy', deadline: '2026-01-01T00:30:50Z' },
          nextStep: 'Wait: the operator continues by itself.',
        },
        { name: 'evening', nextStep: null },
        { name: 'small' },
      ],
    });
  });

  it('has no line that would wrap, which could not be drawn over: not in all namespaces, not for a long word', () => {
    const message = `Get https://deploy.example.com/${'services/'.repeat(8)}: refused`;
    const trees = forestOf([
      ...SHOP,
      seen('Box', 'other', {}, { status: 'False', reason: 'Refused', message }),
    ]);
    const shown = statusShown(
      () => trees,
      () => NOW,
      true,
    );
    for (const width of [50, 30]) {
      const lines = shown.lines(width, plain);
      expect(lines.filter((line) => line.length > width)).toEqual([]);
    }
    expect(shown.lines(50, plain)).toContain('   https://deploy.example.com/services/services/s…');
  });

  it('is a line for each thing where somebody watches without a terminal', () => {
    expect(
      statusShown(
        () => forestOf(SHOP),
        () => NOW,
        false,
      ).news()[3],
    ).toEqual({
      key: 'Instance/web-eu',
      text: 'Ready=False Deploying Deploying',
      detail: 'Waits for the end of deploy',
    });
  });
});
