import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../../api/names.ts';
import { claimAnnotations, judgeClaim, type ClaimJudgement } from './claim.ts';
import { Seals } from './seal.ts';

const ME = {
  installationId: 'inst',
  kind: 'Box',
  namespace: 'shop',
  name: 'web',
  uid: 'uid-1',
  marker: 'bw-inst-web',
};
const PLACE = { endpoint: 'https://service.test', owner: 'ops' };
const SEALS = new Seals(Buffer.alloc(32, 1));
const OTHER_KEY = new Seals(Buffer.alloc(32, 2));
const SEAL = { ...PLACE, isCurrent: true, isOfPresentUid: true };

type Annotations = Record<string, string>;

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

/** A claim as the operator writes it. */
function sealed(id: string, of: Partial<typeof ME> = {}, seals = SEALS): Annotations {
  return claimAnnotations(id, { ...ME, ...of }, seals, PLACE) as Annotations;
}

/** As versions before the seal wrote it. */
const readBy = (seals: Seals): Seals['readClaim'] => seals.readClaim.bind(seals);

function unsealed(id: string, of: Partial<typeof ME> = {}): Annotations {
  const { [ANNOTATIONS.claimSeal]: _seal, ...claim } = sealed(id, of);
  return claim;
}

function judge(
  annotations: Annotations | undefined,
  statusId?: string,
  living: string[] = [],
  former: string[] = [],
): ClaimJudgement {
  return judgeClaim({ annotations, statusId, former }, ME, readBy(SEALS), (uid) => living.includes(uid));
}

describe('a claim', () => {
  it('counts when seal, installation, marker and uid are mine', () => {
    const mine = { kind: 'mine', id: 'r1', restore: false, seal: SEAL };
    expect(judge(sealed('r1'))).toEqual(mine);
    expect(judge(sealed('r1'), 'r1')).toEqual(mine);
  });

  it('without a seal, or with one for anything else, counts only where status says the same', () => {
    const elsewhere = { ...PLACE, endpoint: 'https://elsewhere.test' };
    const forged = [
      unsealed('r1'),
      { ...unsealed('r1'), [ANNOTATIONS.claimSeal]: 'made/up' },
      { ...sealed('r2'), [ANNOTATIONS.externalId]: 'r1' },
      ...[{ namespace: 'other' }, { name: 'other' }, { kind: 'Instance' }, { uid: 'uid-2' }].map((of) => ({
        ...unsealed('r1'),
        [ANNOTATIONS.claimSeal]: sealed('r1', of)[ANNOTATIONS.claimSeal] ?? '',
      })),
      {
        ...unsealed('r1'),
        [ANNOTATIONS.claimSeal]: (sealed('r1')[ANNOTATIONS.claimSeal] ?? '').replace(
          encodeURIComponent(PLACE.endpoint),
          encodeURIComponent(elsewhere.endpoint),
        ),
      },
    ];
    for (const annotations of forged) {
      expect(judge(annotations)).toMatchObject({ kind: 'void', id: 'r1' });
      expect(judge(annotations, 'r1')).toEqual({ kind: 'mine', id: 'r1', restore: false });
    }
  });

  it('on an earlier record is nothing beside the one that status has taken back', () => {
    const mine = { kind: 'mine', id: 'r0', restore: true };
    expect(judge(sealed('r1'), 'r0', [], ['r1'])).toEqual(mine);
    expect(judge(sealed('r1'), 'r0', [], ['r2']).kind).toBe('conflict');
    expect(judge(sealed('r1'), undefined, [], ['r1'])).toMatchObject({ id: 'r1', restore: false });
    expect(judge(unsealed('r1'), undefined, [], ['r1'])).toMatchObject({ id: 'r1', restore: false });
  });

  it('is nothing where nothing is said', () => {
    expect(judge(undefined)).toEqual({ kind: 'none' });
    expect(judge({ 'example.com/other': 'x' })).toEqual({ kind: 'none' });
  });

  it('is taken over from a uid that lives no more (a restore), and not from one that lives', () => {
    const restored = sealed('r1', { uid: 'uid-0' });
    const seal = { ...SEAL, isOfPresentUid: false };
    expect(judge(restored)).toEqual({ kind: 'mine', id: 'r1', restore: true, seal });
    expect(judge(restored, undefined, ['uid-0']).kind).toBe('void');
  });

  it('says nothing when it was copied from another resource, and is a conflict from another installation', () => {
    const copied = judge(sealed('r1', { name: 'other', marker: 'bw-inst-other' }));
    const foreign = judge(sealed('r1', { installationId: 'else' }, OTHER_KEY));
    expect([copied.kind, foreign.kind]).toEqual(['void', 'conflict']);
    // The words tell how to take over.
    for (const judged of [copied, foreign]) {
      expect('message' in judged && judged.message).toContain(ANNOTATIONS.adopt);
    }
  });

  it('of another installation is a conflict beside status, too', () => {
    expect(judge(sealed('r1', { installationId: 'else' }, OTHER_KEY), 'r1').kind).toBe('conflict');
  });

  it('under a key that is not in hand takes nothing over and lets nothing go, unless status says the same', () => {
    expect(judge(sealed('r1', {}, OTHER_KEY))).toMatchObject({ kind: 'conflict', id: 'r1' });
    expect(judge(sealed('r1', {}, OTHER_KEY), 'r1')).toEqual({ kind: 'mine', id: 'r1', restore: false });
  });

  it('under an earlier key that is kept counts', () => {
    const rotated = new Seals(Buffer.alloc(32, 2), [Buffer.alloc(32, 1)]);
    const source = { annotations: sealed('r1'), statusId: undefined, former: [] };
    expect(judgeClaim(source, ME, readBy(rotated), () => false)).toMatchObject({
      kind: 'mine',
      seal: { isCurrent: false },
    });
  });

  it('in words of a newer version is kept, and nothing is let go', () => {
    const claim = `${ME.installationId}/${ME.marker}/${ME.uid}/more`;
    const annotations = { ...sealed('r1'), [ANNOTATIONS.claim]: claim };
    expect(judge(annotations)).toMatchObject({ kind: 'conflict', newer: true });
  });

  it('is restored from status.id when a replace has wiped the annotations, in part or wholly', () => {
    const restored = { kind: 'mine', id: 'r1', restore: true };
    expect(judge(undefined, 'r1')).toEqual(restored);
    expect(judge({ [ANNOTATIONS.externalId]: 'r1' }, 'r1')).toEqual(restored);
    expect(judge(unsealed('r1', { name: 'other', marker: 'bw-inst-other' }), 'r1')).toEqual(restored);
  });

  it('for another id than status names is overwritten, and a conflict only where its seal holds', () => {
    expect(judge(sealed('r1'), 'r2').kind).toBe('conflict');
    expect(judge(unsealed('r1'), 'r2')).toEqual({ kind: 'mine', id: 'r2', restore: true });
    expect(judge({ [ANNOTATIONS.externalId]: 'r1' }, 'r2')).toEqual({
      kind: 'mine',
      id: 'r2',
      restore: true,
    });
  });

  it('never yields an id that status or a seal does not vouch for, whatever is written there', () => {
    const word = fc.constantFrom('inst', 'else', 'bw-inst-web', 'bw-other', 'uid-1', 'uid-0', 'uid-9', '');
    const claims = fc.oneof(
      fc.tuple(word, word, word).map((parts) => parts.join('/')),
      fc.string(),
    );
    const seals = fc.oneof(
      fc.constantFrom(
        ...[sealed('r1'), sealed('r1', { uid: 'uid-0' }), sealed('r2', { namespace: 'other' })].map(
          (annotations) => annotations[ANNOTATIONS.claimSeal] ?? '',
        ),
      ),
      fc.string(),
    );
    const id = maybe(fc.constantFrom('r1', 'r2'));
    fc.assert(
      fc.property(id, maybe(claims), maybe(seals), id, (annotated, claim, seal, statusId) => {
        const annotations = {
          ...(annotated === undefined ? {} : { [ANNOTATIONS.externalId]: annotated }),
          ...(claim === undefined ? {} : { [ANNOTATIONS.claim]: claim }),
          ...(seal === undefined ? {} : { [ANNOTATIONS.claimSeal]: seal }),
        };
        const judged = judge(annotations, statusId, ['uid-1', 'uid-9']);
        if (judged.kind !== 'mine') return;
        const vouched = ['uid-1', 'uid-0'].some(
          (uid) => JSON.stringify(annotations) === JSON.stringify(sealed('r1', { uid })),
        );
        expect(judged.id === statusId || (vouched && judged.id === 'r1')).toBe(true);
        expect(statusId === undefined || judged.id === statusId).toBe(true);
      }),
    );
  });
});
