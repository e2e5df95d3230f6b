/** How long each operation takes as a whole, milliseconds of service time. */
export interface Durations {
  deploy: number;
  poweron: number;
  shutdown: number;
  reinstall: number;
  reconfigure: number;
  pull: number;
  terminate: number;
  force_terminate: number;
  /** From the creation of a provider to ready. */
  provider: number;
  providerSync: number;
  providerDelete: number;
  /** From exit code 100 to the machine being back. */
  reboot: number;
  groupSync: number;
}

/** With the Test Provider a two-script deploy takes about 4 s (service-behaviour.md 2.3). */
export const DEFAULT_DURATIONS: Durations = {
  deploy: 4_000,
  poweron: 2_000,
  shutdown: 2_000,
  reinstall: 2_000,
  reconfigure: 1_500,
  pull: 2_000,
  terminate: 2_000,
  force_terminate: 1_000,
  provider: 2_000,
  providerSync: 1_500,
  providerDelete: 1_000,
  reboot: 2_000,
  groupSync: 1_000,
};

/** What can be changed while the service runs. */
export interface Settings {
  durations: Durations;
  /** Added to each call, milliseconds; a pair is a range. */
  latency: number | readonly [number, number];
}
