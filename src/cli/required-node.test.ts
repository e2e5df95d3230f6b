import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { nodeComplaint, oldestOf, OLDEST_NODE } from './required-node.ts';

describe('the Node.js that is needed', () => {
  it('is the one of package.json', () => {
    expect(manifest.engines.node).toBe(`>=${OLDEST_NODE}`);
    expect(() => oldestOf('^22 || ^24')).toThrow('write >=<version>');
  });

  it.each(['20.20.2', '22.18.9', '22.2.0', '9.99.99', '22.18.0-nightly'])('is newer than %s', (version) => {
    expect(nodeComplaint(version, '/usr/bin/node')).toBe(
      `boxwright needs Node.js ${OLDEST_NODE} or newer, and /usr/bin/node is v${version}: ` +
        'put a newer one first on PATH (https://nodejs.org/en/download)',
    );
  });

  it.each(['22.19.0', '22.20.1', '23.0.0', '24.21.0', '100.0.0', '22.19.0-rc.1'])('may be %s', (version) => {
    expect(nodeComplaint(version, 'node')).toBeUndefined();
  });
});
