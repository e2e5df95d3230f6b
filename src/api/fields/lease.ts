import { defaulted, duration, oneOf, optional, time } from '../schema/build.ts';
import { atMostOne, type Rule } from '../schema/rules.ts';

interface LeaseTimes {
  operation: string;
  expireAt?: string;
  after?: string;
  schedule?: object;
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
      holds: (l: LeaseTimes) => isEndless(l) || hasEnd(l),
    },
    noEndIfAlwaysOn(),
  ];
}

/** The same for a lease that may have a schedule instead of an end. */
export function scheduledLeaseRules(): Rule[] {
  return [
    atMostOne(['schedule', 'expireAt', 'after'], 'set only one of expireAt, after and schedule'),
    {
      rule: `self.operation == 'AlwaysOn' || has(self.after) || has(self.expireAt) || has(self.schedule)`,
      message:
        'a lease needs an end or a schedule: set expireAt, after or schedule, or set operation to AlwaysOn',
      holds: (l: LeaseTimes) => isEndless(l) || hasEnd(l) || l.schedule !== undefined,
    },
    noEndIfAlwaysOn(),
    {
      rule: `self.operation == 'Shutdown' || !has(self.schedule)`,
      message: 'a schedule shuts down and powers on: set operation to Shutdown, or remove schedule',
      holds: (l: LeaseTimes) => l.operation === 'Shutdown' || l.schedule === undefined,
    },
  ];
}

function noEndIfAlwaysOn(): Rule {
  return {
    rule: `self.operation != 'AlwaysOn' || (!has(self.expireAt) && !has(self.after))`,
    message:
      'a lease with operation AlwaysOn has no end: remove expireAt and after, or set operation to Shutdown or Terminate',
    holds: (l: LeaseTimes) => !isEndless(l) || !hasEnd(l),
  };
}

function isEndless({ operation }: LeaseTimes): boolean {
  return operation === 'AlwaysOn';
}

function hasEnd({ expireAt, after }: LeaseTimes): boolean {
  return expireAt !== undefined || after !== undefined;
}
