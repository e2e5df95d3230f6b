/** What a person calls the pair of state and operation of an Instance. */
export const PHASES = [
  'Pending',
  'Deploying',
  'Online',
  'ShuttingDown',
  'ShutDown',
  'PoweringOn',
  'Reinstalling',
  'Reconfiguring',
  'Terminating',
  'Terminated',
  'Failed',
  'Unknown',
] as const;

/** See {@link PHASES}. */
export type Phase = (typeof PHASES)[number];
