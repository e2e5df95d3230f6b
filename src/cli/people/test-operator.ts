import { version } from '../version.ts';
import type { OperatorFacts } from './operator-facts.ts';

/** An operator for tests, which leads, looks after the namespace `shop`, and has the version of the program. */
export const LEADER: OperatorFacts = {
  namespace: 'boxwright-system',
  lease: 'boxwright-operator',
  holder: 'pod-1',
  renewedAt: '2026-01-01T00:00:58Z',
  isLive: true,
  namespaces: ['shop'],
  version,
};
