import { WEEKDAYS } from '../../base/weekly.ts';
import { list, object, oneOf, optional, text } from '../schema/build.ts';

const ON_A_CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9]';

/** When machines run, week by week. */
export function scheduleField() {
  return optional(
    object(
      'When the machines run, week by week, instead of an end: the operator powers them on as a window begins, and shuts them down as it ends. It decides before powerState. It takes an end off the instance, also the one of the policy box’s lifespan. Absent: expireAt or after applies. Can be changed.',
      {
        timeZone: text(
          'The time zone that days and times are of, a name of the IANA database such as Europe/Berlin. Can be changed.',
          {
            maxLength: 64,
            pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$',
            hint: 'must be the name of a time zone, such as Europe/Berlin',
          },
        ),
        up: list(
          'The windows in which the machines run. What several cover counts once. Empty: they never run. Can be changed.',
          object(
            'One window. It begins and ends when the clock of the time zone first shows its time, or a later one: a time that the clock shows twice counts the first time, and one that it skips counts as the moment of the jump.',
            {
              days: list(
                'The days on which the window begins. Can be changed.',
                oneOf('A day of the week.', WEEKDAYS),
                {
                  maxItems: 7,
                  rules: [
                    {
                      rule: 'size(self) > 0',
                      message: 'name at least one day, or remove the window',
                      holds: (days: string[]) => days.length > 0,
                    },
                  ],
                },
              ),
              from: text('When it begins, hours and minutes such as 08:00. Can be changed.', {
                maxLength: 5,
                pattern: `^${ON_A_CLOCK}$`,
                hint: 'must be a time from 00:00 to 23:59, such as 08:00',
              }),
              to: text(
                'When it ends, hours and minutes such as 19:00, or 24:00. A time before from is on the next day. Can be changed.',
                {
                  maxLength: 5,
                  pattern: `^(${ON_A_CLOCK}|24:00)$`,
                  hint: 'must be a time from 00:00 to 24:00, such as 19:00',
                },
              ),
            },
            {
              rules: [
                {
                  rule: 'self.from != self.to',
                  message: 'from and to are the same: write 00:00 and 24:00 for a whole day',
                  holds: (window: { from: string; to: string }) => window.from !== window.to,
                },
              ],
            },
          ),
          { maxItems: 32 },
        ),
      },
    ),
  );
}
