import { describe, expect, it } from 'vitest';
import { REASONS, type Reason } from '../../../api/reasons.ts';
import { paintFor } from '../../terminal.ts';
import { seen, SHOP } from '../status/test-resource.ts';
import { LEADER } from '../test-operator.ts';
import { explanationOf } from './facts.ts';
import { pageOf } from './page.ts';
import { keeperOf, type Keeper } from './who.ts';

const plain = paintFor({ write: () => undefined }, {});
const NOW = Date.UTC(2026, 0, 1, 0, 1);
const context = { systemNamespace: 'boxwright-system', wroteAt: undefined };
const WATCHED = keeperOf('shop', { operators: [{ ...LEADER, version: '1.2.3' }], unproven: [] }, context);

function page(resource = SHOP[1], keeper: Keeper = WATCHED, width = 100): string {
  if (resource === undefined) throw new Error('there is a shop');
  return pageOf(explanationOf(resource, keeper, []), { width, paint: plain, now: NOW }).join('\n');
}

describe('who looks after a resource', () => {
  it('is the operator that leads and watches the namespace', () => {
    expect(WATCHED).toMatchObject({
      state: 'Watched',
      text: 'pod-1 in namespace boxwright-system, version 1.2.3; it looks after namespaces shop.',
    });
    expect(
      keeperOf('any', { operators: [{ ...LEADER, namespaces: undefined }], unproven: [] }, context).state,
    ).toBe('Watched');
  });

  it('is nobody where the namespace is not watched', () => {
    const keeper = keeperOf('other', { operators: [LEADER], unproven: [] }, context);
    expect(keeper.state).toBe('NotWatched');
    expect(keeper.nextStep).toContain('Add other to the chart’s value namespaces');
  });

  it('is nobody where no operator leads, or none is there', () => {
    expect(
      keeperOf('shop', { operators: [{ ...LEADER, isLive: false }], unproven: [] }, context),
    ).toMatchObject({
      state: 'NoLeader',
      text: expect.stringContaining('pod-1 renewed its lease last at 2026-01-01T00:00:58Z') as string,
    });
    expect(keeperOf('shop', { operators: [], unproven: [] }, context).state).toBe('NotInstalled');
  });

  it('is not known where a Lease says it that every author could have written', () => {
    const forged = { ...LEADER, namespace: 'evil', namespaces: undefined };
    const keeper = keeperOf('shop', { operators: [], unproven: [forged] }, context);
    expect(keeper).toMatchObject({ state: 'Unknown', namespace: undefined });
    expect(keeper.text).toContain('every author who may write Leases there can say so');
    expect(keeper.nextStep).toContain('--system-namespace evil');
    expect(keeperOf('shop', { operators: [LEADER], unproven: [forged] }, context)).toEqual(
      keeperOf('shop', { operators: [LEADER], unproven: [] }, context),
    );
    const silent = { ...forged, isLive: false };
    expect(keeperOf('shop', { operators: [], unproven: [silent] }, context).state).toBe('NotInstalled');
  });

  it('is not known where the person may not see it, but the status tells', () => {
    const gap = { gap: 'your user may not get the Lease' };
    expect(keeperOf('shop', gap, context).text).toContain('No operator has ever written its status');
    expect(keeperOf('shop', gap, { ...context, wroteAt: '2026-01-01T00:00:00Z' })).toMatchObject({
      text: expect.stringContaining('wrote its status last at 2026-01-01T00:00:00Z') as string,
      nextStep: undefined,
    });
  });
});

describe('the page', () => {
  it('tells what is under way, and until when', () => {
    const text = page();
    expect(text).toContain('Instance/web-eu in namespace shop');
    expect(text).toContain('Not Ready: Deploying (for 1m)\n  Waits for the end of deploy');
    expect(text).toContain(
      'The operation deploy. It began 10s ago. It counts as stuck at 2026-01-01T00:30:50Z.',
    );
    expect(text).toContain('boxRef:');
    expect(text).toContain('No record is known.');
  });

  it('works on a resource without any status, and says why it has none', () => {
    const bare = seen('Box', 'web', { connectionRef: { name: 'main' } });
    delete bare.status;
    const text = page(bare, keeperOf('other', { operators: [LEADER], unproven: [] }, context));
    expect(text).toContain('Not known\n  No operator has looked at it yet');
    expect(text).toContain('What to do\n  Add other to the chart’s value namespaces');
    expect(text).toContain('None: namespace other is not watched.');
  });

  it('tells the last failure, the differences and who else claims the record', () => {
    const more = {
      id: 'record-1',
      home: { endpoint: 'https://deploy.example.com', owner: 'workspace-1' },
      drift: [{ field: 'tags', want: 'a', have: 'b' }],
      lastOperation: { event: 'deploy', outcome: 'Failed', message: 'no such flavor' },
    };
    const message = 'Another resource claims the record: Instance/other';
    const resource = seen(
      'Instance',
      'web',
      {},
      { status: 'False', reason: 'Conflict', message },
      more as object,
    );
    resource.metadata.annotations = { 'boxwright.dev/claim': 'install-1/marker/uid' };
    const text = page(resource);
    expect(text).toContain('The operation deploy failed: no such flavor');
    expect(text).toContain('tags: declared a, found b');
    expect(text).toContain('Record record-1 at https://deploy.example.com, owned by workspace workspace-1.');
    expect(text).toContain(
      'By annotation, installation install-1 claims it.\n  Another resource claims the record: Instance/other',
    );
  });

  it('tells a claim that no status bears out as what an author may have written', () => {
    const resource = seen('Box', 'web', {});
    resource.metadata.annotations = { 'boxwright.dev/claim': 'install-1/marker/uid' };
    const text = page(resource, WATCHED, 1_000);
    expect(text).toContain('names installation install-1, but status knows no record');
    expect(text).not.toContain('claims it');
  });

  it('lets nothing that the service or others wrote write to the terminal', () => {
    const evil = 'a\u001b[2Jb\u0007\u202e';
    const status = {
      id: evil,
      home: { endpoint: evil, owner: evil },
      drift: [{ field: evil, want: evil, have: evil }],
      lastOperation: { event: evil, outcome: 'Failed', message: evil },
      machines: [{ name: evil, state: evil }],
    };
    const more = status as object;
    const resource = seen('Instance', 'web', { tags: [evil] }, { status: 'False', message: evil }, more);
    const happened = { at: '', type: 'Normal', reason: 'Deployed', note: 'fine', count: 1 };
    const lines = pageOf(explanationOf(resource, WATCHED, [happened], evil), {
      width: 100,
      paint: plain,
      now: NOW,
    });
    expect(lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([]);
    expect(lines.join('\n')).toContain('Record ab at ab, owned by workspace ab.');
  });

  it('leaves out defaults, and tells a long text by its size', () => {
    const spec = {
      connectionRef: { name: 'main' },
      managementPolicy: 'Full',
      events: { install: { inline: '#!/bin/bash\necho one\necho two\n' } },
    };
    const text = page(seen('Box', 'web', spec));
    expect(text).not.toContain('managementPolicy');
    expect(text).toContain('#!/bin/bash echo one echo two (3 lines, 30 characters)');
  });

  it.each([60, 80, 200])('fits a terminal of %i columns', (width) => {
    for (const resource of SHOP) {
      const lines = page(resource, WATCHED, width).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    }
  });

  it.each(Object.keys(REASONS) as Reason[])('says of %s what it means and what to do', (reason) => {
    const { situation, whatToDo, ready } = REASONS[reason];
    const status = ready === 'True' ? 'True' : 'False';
    const text = page(seen('Instance', 'web', {}, { status, reason, message: 'Why' }), WATCHED, 1_000);
    expect(text).toContain(situation);
    expect(text).toContain(`What to do\n  ${whatToDo}`);
  });
});
