import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliIo } from '../command.ts';
import { CommandFailedError, EXIT, UsageError } from '../exit-codes.ts';
import { kubeConfigUsage } from '../kubeconfig-usage.ts';
import { createLog } from '../log.ts';
import { paintFor } from '../terminal.ts';
import { openCluster } from './cluster.ts';
import { DEV_FLAGS, type DevFlags } from './flags.ts';
import { defaultExamples, readManifests } from './manifests.ts';
import { openService } from './service.ts';
import { Session } from './session.ts';

/** Runs `boxwright dev` to its end, and takes everything down again. */
export async function runDev(flags: DevFlags, io: CliIo): Promise<number> {
  const startedAt = io.clock.monotonic();
  const manifests = readManifests(flags.examples ?? defaultExamples());
  const folder = mkdtempSync(join(io.env['TMPDIR'] ?? tmpdir(), 'boxwright-dev-'));
  const logFile = flags.logFile ?? join(folder, 'operator.log');
  const logStream = createWriteStream(logFile, { flags: 'a' });
  const log = createLog({ level: flags.logLevel, format: 'text', stream: logStream, clock: io.clock });
  const closers: (() => Promise<void>)[] = [];
  let exitCode: number = EXIT.failed;
  try {
    const service = await openService(flags, io.clock, log);
    closers.push(() => service.stop());
    const cluster = await openCluster(flags, folder, io, io.clock);
    closers.push(() => cluster.stop());
    // With --exit nobody is there to follow it, and it would stay in the log of some job.
    if (service.page !== undefined && !flags.exit) {
      io.stderr.write(`the service’s page, by a link that logs in once: ${service.page}\n`);
    }
    const session = new Session({ flags, io, log, manifests, service, cluster, startedAt });
    closers.push(() => session.close());
    exitCode = await session.run();
    return exitCode;
  } catch (error) {
    if (io.interrupt.signal.aborted) {
      exitCode = io.interrupt.exitCode;
      return exitCode;
    }
    const told = kubeConfigUsage(error, flags, DEV_FLAGS, io.env);
    if (told instanceof UsageError) exitCode = EXIT.usage;
    throw told instanceof CommandFailedError || told instanceof UsageError || !(told instanceof Error)
      ? told
      : new CommandFailedError('boxwright dev cannot go on', { cause: told });
  } finally {
    for (const close of closers.toReversed()) await close();
    await new Promise<void>((resolve) => void logStream.end(() => resolve()));
    // The log is all that is worth keeping, and only if something went wrong.
    if (exitCode === EXIT.failed) {
      io.stderr.write(paintFor(io.stderr, io.env).dim(`The operator’s log: ${logFile}\n`));
    } else {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
