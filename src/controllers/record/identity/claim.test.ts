import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../../api/names.ts';
import { claimAnnotations, judgeClaim, type ClaimJudgement } from './claim.ts';

const ME = { installationId: 'inst', marker: 'bw-inst-web', uid: 'uid-1' };

function judge(
  annotations: Record<string, string> | undefined,
  statusId?: string,
  living: string[] = [],
  former: string[] = [],
): ClaimJudgement {
  return judgeClaim({ annotations, statusId, former }, ME, (uid) => living.includes(uid));
}

describe('a claim', () => {
  it('counts when installation, marker and uid are mine', () => {
    expect(judge(claimAnnotations('r1', ME))).toEqual({ kind: 'mine', id: 'r1', restore: false });
    expect(judge(claimAnnotations('r1', ME), 'r1')).toEqual({ kind: 'mine', id: 'r1', restore: false });
  });

  it('on an earlier record is nothing beside the one that status has taken back', () => {
    const mine = { kind: 'mine', id: 'r0', restore: true };
    expect(judge(claimAnnotations('r1', ME), 'r0', [], ['r1'])).toEqual(mine);
    expect(judge(claimAnnotations('r1', ME), 'r0', [], ['r2']).kind).toBe('conflict');
    expect(judge(claimAnnotations('r1', ME), undefined, [], ['r1'])).toMatchObject({
      id: 'r1',
      restore: false,
    });
  });

  it('is nothing where nothing is said', () => {
    expect(judge(undefined)).toEqual({ kind: 'none' });
    expect(judge({ 'example.com/other': 'x' })).toEqual({ kind: 'none' });
  });

  it('is taken over from a uid that lives no more (a restore), and not from one that lives', () => {
    const restored = claimAnnotations('r1', { ...ME, uid: 'uid-0' });
    expect(judge(restored)).toEqual({ kind: 'mine', id: 'r1', restore: true });
    expect(judge(restored, undefined, ['uid-0']).kind).toBe('conflict');
  });

  it('is a conflict when it was copied from another resource or comes from another installation', () => {
    const copied = judge(claimAnnotations('r1', { ...ME, marker: 'bw-inst-other' }));
    const foreign = judge(claimAnnotations('r1', { ...ME, installationId: 'else' }));
    for (const judged of [copied, foreign]) {
      expect(judged.kind).toBe('conflict');
      // The words tell how to take over.
      expect(judged.kind === 'conflict' && judged.message).toContain(ANNOTATIONS.adopt);
    }
  });

  it('is restored from status.id when a replace has wiped the annotations, in part or wholly', () => {
    expect(judge(undefined, 'r1')).toEqual({ kind: 'mine', id: 'r1', restore: true });
    expect(judge({ [ANNOTATIONS.externalId]: 'r1' }, 'r1')).toEqual({
      kind: 'mine',
      id: 'r1',
      restore: true,
    });
  });

  it('is a conflict when annotation and status name different ids', () => {
    expect(judge(claimAnnotations('r1', ME), 'r2').kind).toBe('conflict');
    expect(judge({ [ANNOTATIONS.externalId]: 'r1' }, 'r2').kind).toBe('conflict');
  });

  it('is a conflict when an id stands there that nobody claims', () => {
    expect(judge({ [ANNOTATIONS.externalId]: 'r1' }).kind).toBe('conflict');
  });

  it('never yields an id that this resource did not get from this operator, whatever is written there', () => {
    const word = fc.constantFrom('inst', 'else', 'bw-inst-web', 'bw-other', 'uid-1', 'uid-0', 'uid-9', '');
    const text = fc.option(
      fc.oneof(
        fc.tuple(word, word, word).map((parts) => parts.join('/')),
        fc.string(),
      ),
      {
        nil: undefined,
      },
    );
    const id = fc.option(fc.constantFrom('r1', 'r2'), { nil: undefined });
    fc.assert(
      fc.property(id, text, id, (annotated, claim, statusId) => {
        const annotations = {
          ...(annotated === undefined ? {} : { [ANNOTATIONS.externalId]: annotated }),
          ...(claim === undefined ? {} : { [ANNOTATIONS.claim]: claim }),
        };
        const judged = judge(annotations, statusId, ['uid-1', 'uid-9']);
        if (judged.kind !== 'mine') return;
        const claimed =
          annotated !== undefined &&
          (claim === 'inst/bw-inst-web/uid-1' ||
            // No living resource has that uid.
            (claim?.startsWith('inst/bw-inst-web/') === true && claim !== 'inst/bw-inst-web/uid-9'));
        expect(judged.id === statusId || (claimed && judged.id === annotated)).toBe(true);
        expect(statusId === undefined || judged.id === statusId).toBe(true);
      }),
    );
  });
});
