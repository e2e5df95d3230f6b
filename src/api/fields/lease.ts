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
        'What happens at the end. Shutdown: the machines stop. Terminate: they go, the record stays. AlwaysOn: nothing ends. Default Shutdown. Can be changed.',
        ['Shutdown', 'Terminate', 'AlwaysOn'],
      ),
      'Shutdown',
    ),
    expireAt: optional(
      time('When the lease ends, RFC 3339, such as 2026-12-24T18:00:00Z. Absent: by after. Can be changed.'),
    ),
    after: optional(
      duration(
        'How long the lease lasts from the deploy, from the edit or from the last renewal, a duration from 1m to 87600h such as 8h, rounded up to a whole minute. Absent: by expireAt. Can be changed.',
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
      message: 'a lease that ends says when: set expireAt or after, or make the operation AlwaysOn',
      holds: (l: LeaseTimes) =>
        l.operation === 'AlwaysOn' || l.expireAt !== undefined || l.after !== undefined,
    },
    {
      rule: `self.operation != 'AlwaysOn' || (!has(self.expireAt) && !has(self.after))`,
      message:
        'a lease that is AlwaysOn has no end: leave out expireAt and after, or choose Shutdown or Terminate',
      holds: (l: LeaseTimes) =>
        l.operation !== 'AlwaysOn' || (l.expireAt === undefined && l.after === undefined),
    },
  ];
}
