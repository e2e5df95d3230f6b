import { afterAll, describe, expect, it } from 'vitest';
import { HOUR, Shop } from '../scenarios/shop.ts';
import { ANSWERS, type Answering } from './answers.ts';
import { WRITES, type Write } from './writes.ts';

/** How often a write was sent. */
interface Sends {
  hour: number;
  all: number;
}

/** Brings a write about, answers it always the same, and lets an hour pass before something else is asked. */
async function sendsOf(
  { before, act, is, other }: Write,
  answering: Answering,
  hours: number,
): Promise<Sends> {
  const { reply, alter, stopsAll } = answering;
  const shop = await Shop.open();
  await before?.(shop);
  let sent = 0;
  shop.judge = (request) => {
    if (!is(request)) return undefined;
    sent += 1;
    return reply?.(request, shop);
  };
  const { alter: altered } = shop;
  shop.alter = (given) => {
    const request = altered(given);
    return alter === undefined || request.body === undefined || !is(request)
      ? request
      : { ...request, body: Buffer.from(alter(Buffer.from(request.body).toString())) };
  };
  await act(shop);
  await shop.world.advance(HOUR);
  const hour = sent;
  if (other !== undefined && stopsAll !== true) {
    await other.act(shop);
    await shop.world.until(() => other.done(shop), HOUR);
  }
  await shop.world.advance((hours - 1) * HOUR);
  await shop.close();
  return { hour, all: sent };
}

/** A line of the table. */
function row(name: string, cells: readonly string[]): string {
  return name.padEnd(24) + cells.map((cell) => cell.padStart(8)).join('');
}

/** Every write, answered for some hours with every answer; prints how often each was sent. */
export function judgeEveryWrite(hours: number): void {
  const table = new Map<string, string[]>();
  const largest = new Map(ANSWERS.map(({ name }) => [name, { hour: 0, all: 0 }]));

  afterAll(() => {
    const legend = ANSWERS.map(({ name }, at) => `(${at + 1}) ${name}`).join(', ');
    const lines = [
      `Sends of each write in the first hour/in ${hours} h: ${legend}`,
      row(
        '',
        ANSWERS.map((_, at) => `(${at + 1})`),
      ),
      ...[...table].map(([name, cells]) => row(name, cells)),
      row(
        'largest',
        [...largest.values()].map(({ hour, all }) => `${hour}/${all}`),
      ),
    ];
    process.stdout.write(`\n${lines.join('\n')}\n`);
  });

  describe.each(WRITES)(`$name, answered for ${hours} h with`, (write) => {
    it.each(ANSWERS)('$name, is not hammered, and holds nothing else back', async (answering) => {
      const cells = table.get(write.name) ?? [];
      table.set(write.name, cells);
      if (answering.alter !== undefined && write.record !== true) {
        cells.push('-');
        return;
      }
      const { hour, all } = await sendsOf(write, answering, hours);
      cells.push(`${hour}/${all}`);
      const most = largest.get(answering.name) ?? { hour: 0, all: 0 };
      largest.set(answering.name, { hour: Math.max(most.hour, hour), all: Math.max(most.all, all) });
      expect(hour).toBeGreaterThan(0);
      expect(hour).toBeLessThanOrEqual(answering.most.hour);
      expect(all).toBeLessThanOrEqual(answering.most.day);
    });
  });
}
