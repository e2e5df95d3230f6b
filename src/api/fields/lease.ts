import { defaulted, duration, oneOf, optional, time } from '../schema/build.ts';
import { atMostOne, type Rule } from '../schema/rules.ts';

interface LeaseTimes {
  operation: string;
  expireAt?: string;
  after?: string;
}

/** What a lease does and when: the same on an Instance and on an InstanceLease. */
export function leaseFields() {
  return {
    operation: defaulted(
      oneOf(
        'What happens at the end. Shutdown: the machines stop. Terminate: the machines are terminated and the record stays. AlwaysOn: there is no end. Default Shutdown. Can be changed.',
        ['Shutdown', 'Terminate', 'AlwaysOn'],
      ),
      'Shutdown',
    ),
    expireAt: optional(
      time(
        'When the lease ends, RFC 3339, such as 2026-12-24T18:00:00Z. Absent: after applies. Can be changed.',
      ),
    ),
    after: optional(
      duration(
        'How long the lease lasts from the deploy, from the edit or from the last renewal, a duration from 1m to 87600h such as 8h, rounded up to a whole minute. Absent: expireAt applies. Can be changed.',
        '1m',
        '87600h',
      ),
    ),
  };
}

/** When a lease says its end, and when it must not. */
export function leaseRules(): Rule[] {
  return [
    atMostOne(['expireAt', 'after'], 'set only one of expireAt and after'),
    {
      rule: `self.operation == 'AlwaysOn' || has(self.expireAt) || has(self.after)`,
      message: 'a lease needs an end: set expireAt or after, or set operation to AlwaysOn',
      holds: (l: LeaseTimes) =>
        l.operation === 'AlwaysOn' || l.expireAt !== undefined || l.after !== undefined,
    },
    {
      rule: `self.operation != 'AlwaysOn' || (!has(self.expireAt) && !has(self.after))`,
      message:
        'a lease with operation AlwaysOn has no end: remove expireAt and after, or set operation to Shutdown or Terminate',
      holds: (l: LeaseTimes) =>
        l.operation !== 'AlwaysOn' || (l.expireAt === undefined && l.after === undefined),
    },
  ];
}
