import { defineCommand } from '../command.ts';
import { UsageError } from '../exit-codes.ts';
import { checkNamespace } from '../namespaces.ts';
import { DEV_FLAGS, type DevFlags } from './flags.ts';

/** `boxwright dev`. */
export const devCommand = defineCommand({
  flags: DEV_FLAGS,
  notes: `
Without flags: a real control plane (built on first use), the embedded service and the operator, all on
loopback and gone at the end. ^C ends it; a second one ends it at once. With an existing cluster or service it
first deletes what it applied, so that nothing stays behind on the service, and says what it leaves.`,
  async run(flags, io) {
    check(flags);
    const { runDev } = await import('./run.ts');
    return runDev(flags, io);
  },
});

function check({ endpoint, token, email, password, timeout, namespace, systemNamespace }: DevFlags): void {
  checkNamespace('--namespace', namespace);
  checkNamespace('--system-namespace', systemNamespace);
  const login = token !== undefined || (email !== undefined && password !== undefined);
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    throw new UsageError(`--endpoint ${endpoint}: write a URL, such as https://deploy.example.com`);
  }
  if (endpoint !== undefined && !login) {
    throw new UsageError(
      '--endpoint needs a login: set BOXWRIGHT_TOKEN, or BOXWRIGHT_EMAIL and BOXWRIGHT_PASSWORD',
    );
  }
  if (timeout <= 0) throw new UsageError('--timeout 0s: give it some time, such as 5m');
}
