import { readFileSync } from 'node:fs';

const MIB = 1_024;

/** Resident memory of a process, MiB; Linux only. */
export function residentMiB(pid: number): number {
  return field(pid, 'VmRSS') / MIB;
}

/** The most it has had since it began, or since {@link forgetPeak}, MiB. */
export function peakMiB(pid: number): number {
  return field(pid, 'VmHWM') / MIB;
}

function field(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const found = new RegExp(String.raw`^${name}:\s+(\d+) kB$`, 'm').exec(status);
  return Number(found?.[1] ?? Number.NaN);
}
