import { describe, expect, it } from 'vitest';
import type { InstanceRecord, VariableRecord } from '../../../service/index.ts';
import type { DesiredVariable } from '../../content/variables.ts';
import { planPut, type PutPlan } from './plan.ts';

const MARKER = 'bw-installn-marker';

function declared(name: string, value: string, more: Partial<DesiredVariable> = {}): DesiredVariable {
  return { key: name, name, scope: '', wire: { name, type: 'Text', value }, ...more };
}

function plan(
  record: { tags?: string[]; variables?: VariableRecord[] },
  wanted: { tags?: string[]; variables?: DesiredVariable[] },
  managed: { tags?: string[]; variables?: string[] } = {},
): PutPlan {
  const full: InstanceRecord = { id: 'i', tags: [MARKER], ...record };
  return planPut(
    full,
    { marker: MARKER, tags: wanted.tags ?? [], variables: wanted.variables ?? [], urlOf: () => '/blob' },
    { tags: managed.tags ?? [], variables: managed.variables ?? [] },
  );
}

describe('the PUT that brings an instance to what is declared', () => {
  it('is not needed where the record says it already, whatever others have added', () => {
    const record = {
      tags: ['theirs', MARKER, 'shop'],
      variables: [
        { name: 'PORT', type: 'Text', value: '80', hue: 1 },
        { name: 'THEIRS', type: 'Colour', value: 'green' },
      ],
    };
    const made = plan(record, { tags: ['shop'], variables: [declared('PORT', '80')] });
    expect(made).toMatchObject({ differences: [], newTags: [], newVariables: [] });
    expect(made.variables).toEqual(record.variables);
    expect(made.tags).toEqual(record.tags);
  });

  it('puts the marker back, which is nothing to note', () => {
    const made = plan({ tags: ['theirs'] }, {});
    expect(made).toMatchObject({ tagsDiffer: true, newTags: [] });
    expect(made.tags).toEqual(['theirs', MARKER]);
  });

  it('names what it puts there for the first time, and takes away only what it put there', () => {
    const record = {
      tags: [MARKER, 'ours', 'theirs'],
      variables: [
        { name: 'OURS', value: '1' },
        { name: 'THEIRS', value: '2' },
      ],
    };
    const made = plan(
      record,
      { tags: ['new'], variables: [declared('NEW', '3')] },
      { tags: ['ours'], variables: ['OURS'] },
    );
    expect(made.tags).toEqual([MARKER, 'theirs', 'new']);
    expect(made.variables.map(({ name }) => name)).toEqual(['THEIRS', 'NEW']);
    expect(made).toMatchObject({ newTags: ['new'], newVariables: ['NEW'] });
    expect(made.differences.map(({ field }) => field).toSorted()).toEqual([
      'tags.new',
      'tags.ours',
      'variables.NEW',
      'variables.OURS',
    ]);
  });

  it('brings the real value of a secret, and shows neither it nor its mask as a difference', () => {
    const secret = declared('PW', 'real', {
      secret: true,
      wire: { name: 'PW', type: 'Password', value: 'real' },
    });
    const masked = plan(
      { variables: [{ name: 'PW', type: 'Password', value: '********' }] },
      { variables: [secret] },
    );
    expect(masked).toMatchObject({ variablesDiffer: false, wiped: { content: [], lease: [] } });
    expect(masked.variables).toMatchObject([{ name: 'PW', value: 'real' }]);
    const other = plan(
      { variables: [{ name: 'PW', type: 'Password', value: 'old' }] },
      { variables: [secret] },
    );
    expect(other).toMatchObject({ variablesDiffer: true });
    expect(JSON.stringify(other.differences)).not.toMatch(/real|old/);
  });

  it('names secrets of others whose values only the service knows', () => {
    const made = plan(
      {
        variables: [
          { name: 'THEIRS', type: 'Password', value: '****' },
          { name: 'EMPTY', type: 'Password' },
        ],
      },
      {},
    );
    expect(made.wiped).toEqual({ content: ['THEIRS', 'EMPTY'], lease: ['THEIRS', 'EMPTY'] });
  });

  it('names a file by where its blob is', () => {
    const file = declared('CONF', '', {
      file: { path: 'variables.CONF' } as DesiredVariable['file'] & object,
    });
    expect(plan({}, { variables: [file] }).variables).toMatchObject([{ name: 'CONF', value: '/blob' }]);
  });

  it('tells variables of the same name apart by their scope', () => {
    const inner = declared('PORT', '81', {
      key: 'db:PORT',
      scope: 'db',
      wire: { name: 'PORT', scope: 'db', type: 'Text', value: '81' },
    });
    const made = plan({ variables: [{ name: 'PORT', type: 'Text', value: '80' }] }, { variables: [inner] });
    expect(made.variables).toHaveLength(2);
    expect(made.newVariables).toEqual(['db:PORT']);
  });
});

it('is planned in no time over a record of tens of thousands of tags', () => {
  const tags = Array.from({ length: 45_000 }, (_, i) => `tag-of-many-${i}`);
  const begun = performance.now();
  const made = plan({ tags }, { tags: ['ours'] }, { tags: ['tag-of-many-7'] });
  expect(performance.now() - begun).toBeLessThan(200);
  expect(made.differences.map(({ field }) => field)).toEqual([
    `tags.${MARKER}`,
    'tags.ours',
    'tags.tag-of-many-7',
  ]);
});
