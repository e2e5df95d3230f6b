import type { ListenAddress } from '../../kube/index.ts';
import { UsageError } from '../exit-codes.ts';

/** `host:port`, `:port` for every address, `[::1]:port`, or `off`: undefined. @throws UsageError */
export function addressOf(flag: string, text: string): Required<ListenAddress> | undefined {
  if (text === 'off') return undefined;
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):([0-9]{1,5})$/.exec(text);
  const port = Number(found?.[3]);
  if (found === null || port > 65_535) {
    throw new UsageError(`${flag} ${text}: write host:port, such as 127.0.0.1:8080, or off`);
  }
  return { host: found[1] ?? (found[2] === '' ? '0.0.0.0' : (found[2] ?? '')), port };
}

/** Whether two addresses would meet: port 0 is another one each time. */
export function sameAddress(one: ListenAddress, other: ListenAddress): boolean {
  return one.port !== 0 && one.port === other.port && one.host === other.host;
}
