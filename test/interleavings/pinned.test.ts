import { describe, expect, it } from 'vitest';
import { ownKinds } from '../support/fake-kube.ts';
import { runPlan, type Plan } from './run.ts';

/** The shortest plans of what was found, and mended, that no scenario comes upon. */
const PLANS: Readonly<Record<string, Plan>> = {
  'a change is put once, however often status cannot say so': {
    opening: 'an instance',
    steps: [
      { do: 'edit', kind: 'PolicyBox', name: 'small', spec: { description: 'changed' } },
      { do: 'silent', who: 'API server', seconds: 300 },
      { do: 'delete', kind: 'PolicyBox', name: 'small' },
      { do: 'edit', kind: 'Instance', name: 'web-eu', spec: { tags: ['Shop'] } },
    ],
  },
  'a box that is hidden until another is made is taken back when both are shown': {
    opening: 'an instance',
    steps: [
      { do: 'blind', to: 'boxes', with: 404, lists: true, seconds: 400 },
      { do: 'wait', seconds: 1_200 },
    ],
  },
  'an instance that is hidden until another is made is taken back, and nothing is left': {
    opening: 'an instance',
    steps: [
      { do: 'edit', kind: 'Instance', name: 'web-eu', spec: { onMissing: 'Recreate' } },
      { do: 'blind', to: 'instances', with: 404, lists: true, seconds: 300 },
      { do: 'wait', seconds: 1_200 },
    ],
  },
  'a record that is found where the Connection no longer points waits, and says so': {
    opening: 'an instance',
    steps: [
      { do: 'move', to: 'other' },
      { do: 'apply', what: 'Box/over' },
      { do: 'wait', seconds: 300 },
      { do: 'delete', kind: 'Box', name: 'over' },
      { do: 'crash' },
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
    ],
  },
  'what a DELETE is refused for with 409 is kept, though no read shows it': {
    opening: 'an instance',
    steps: [
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
      { do: 'apply', what: 'contents' },
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'annotate', kind: 'Instance', name: 'web-eu', annotation: 'paused', value: 'false' },
      { do: 'wait', seconds: 300 },
      { do: 'blind', to: 'everything', with: 404, lists: false, seconds: 4 },
    ],
  },
  'a box that is made at the service that the Connection has moved to is Ready there': {
    opening: 'nothing',
    steps: [
      { do: 'delete', kind: 'Box', name: 'web' },
      { do: 'wait', seconds: 1 },
      { do: 'apply', what: 'Box/web' },
      { do: 'move', to: 'other' },
      { do: 'wait', seconds: 1 },
    ],
  },
  'what is changed while the API server cannot be reached is spoken of when it can be': {
    opening: 'an instance',
    steps: [
      { do: 'silent', who: 'API server', seconds: 300 },
      { do: 'edit', kind: 'Instance', name: 'web-eu', spec: { tags: ['eu'] } },
      { do: 'wait', seconds: 20 },
      { do: 'crash' },
      { do: 'wait', seconds: 1_200 },
    ],
  },
  'a record that shows each variable twice is not reconfigured again and again': {
    opening: 'an instance',
    steps: [
      { do: 'apply', what: 'Instance/web-us' },
      { do: 'odd', oddity: 'variables twice' },
      { do: 'wait', seconds: 4_000 },
    ],
  },
  'a box that was renamed while it was hidden, and made again, is not left when both are shown': {
    opening: 'an instance',
    steps: [
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'edit', kind: 'Box', name: 'web', spec: { name: 'renamed' } },
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
    ],
  },
  'a box that is hidden until two others are made is taken back, and none is left': {
    opening: 'nothing',
    steps: [
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'delete', kind: 'PolicyBox', name: 'small' },
    ],
  },
  'an instance that a DELETE says to be there keeps its resource, though no read shows it': {
    opening: 'an instance',
    steps: [
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
      { do: 'by hand', what: 'shutdown' },
    ],
  },
  'an instance whose terminate was accepted and fails keeps its resource, though no read shows it': {
    opening: 'an instance',
    steps: [
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'by hand', what: 'fail next' },
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
    ],
  },
  'a lost create makes no second one while lists show nothing of what is held': {
    opening: 'an instance',
    steps: [
      { do: 'answer', call: 'create instance', with: 'lost', times: 1 },
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'apply', what: 'Instance/web-us' },
    ],
  },
  'an instance that comes back while its box is being deleted is taken back': {
    opening: 'an instance',
    steps: [
      { do: 'edit', kind: 'Instance', name: 'web-eu', spec: { onMissing: 'Recreate' } },
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 300 },
      { do: 'delete', kind: 'Box', name: 'web' },
    ],
  },
  'what a lost create has made is claimed, though a Secret of the declaration is gone by then': {
    opening: 'an instance',
    steps: [
      { do: 'answer', call: 'create instance', with: 'lost', times: 1 },
      { do: 'apply', what: 'Instance/web-us' },
      { do: 'secret', value: 'first-password' },
      { do: 'delete', kind: 'Secret', name: 'web-admin' },
      { do: 'wait', seconds: 1 },
    ],
  },
};

describe('Interleavings that failed once', () => {
  const kinds = ownKinds();
  it.each(Object.entries(PLANS))('%s', { timeout: 300_000 }, async (_name, plan) => {
    const { objections } = await runPlan(plan, kinds);
    expect(objections).toEqual([]);
  });
});
