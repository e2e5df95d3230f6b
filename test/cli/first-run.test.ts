import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { getPrograms, streamProgress } from '../../src/devcluster/index.ts';
import { publishedFrom } from '../support/published-programs.ts';
import { boxwright } from './boxwright.ts';

it('boxwright dev fetches its control plane on a new machine, and brings the examples to Ready', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'boxwright-first-'));
  try {
    const progress = streamProgress(process.stderr, systemClock);
    const programs = await getPrograms({ env: process.env, clock: systemClock, progress });
    await using published = await publishedFrom('1.36.2', programs);
    const machine = {
      PATH: '/usr/bin:/bin',
      TMPDIR: scratch,
      XDG_CACHE_HOME: join(scratch, 'cache'),
      XDG_DATA_HOME: join(scratch, 'data'),
      KUBEBUILDER_ASSETS: '',
      ENVTEST_INSTALLED_ONLY: '',
    };
    const first = boxwright(['dev', '--exit', `--envtest-index=${published.index}`], machine);
    await first.endsWith(0);
    expect(first.output.stderr).toMatch(/fetching Kubernetes 1\.36\.2 from 127\.0\.0\.1:\d+ done/);
    expect(first.output.stderr).toMatch(/the control plane is Kubernetes 1\.36\.2, from 127\.0\.0\.1/);
    expect(first.output.stdout).toMatch(/All 7 resources are Ready[\s\S]*First Instance Online/);
    const asked = published.asked().length;
    const second = boxwright(['dev', '--exit', `--envtest-index=${published.index}`], machine);
    await second.endsWith(0);
    expect(second.output.stderr).toContain('fetched before');
    expect(published.asked()).toHaveLength(asked);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
