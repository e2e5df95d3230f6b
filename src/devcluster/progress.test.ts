import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { streamProgress } from './progress.ts';

function record(isTTY: boolean, columns = 60) {
  const written: string[] = [];
  return { written, stream: { isTTY, columns, write: (text: string) => written.push(text) } };
}

describe('streamProgress', () => {
  it('rewrites one line each second on a terminal, never wider than it', async () => {
    const clock = new VirtualClock();
    const { written, stream } = record(true, 20);
    const step = streamProgress(stream, clock).begin('building etcd');
    step.detail('1204 packages compiled');
    await clock.advance(2_000);
    step.end('done');
    expect(written).toEqual([
      '\rbuilding etcd ...\u001b[K',
      '\rbuilding etcd ... 1\u001b[K',
      '\rbuilding etcd ... 2\u001b[K',
      '\rbuilding etcd done \u001b[K',
      '\n',
    ]);
  });

  it('writes a line every 30 s elsewhere, and nothing after the end', async () => {
    const clock = new VirtualClock();
    const { written, stream } = record(false);
    const step = streamProgress(stream, clock).begin('building etcd');
    step.detail('12 packages compiled');
    await clock.advance(65_000);
    step.end('failed');
    await clock.advance(65_000);
    expect(written).toEqual([
      'building etcd ...\n',
      'building etcd ... 30s (12 packages compiled)\n',
      'building etcd ... 1m (12 packages compiled)\n',
      'building etcd failed 1m5s\n',
    ]);
  });
});
