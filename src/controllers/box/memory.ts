import type { DraftMemory } from '../draft/converge.ts';

/** What this process remembers of a Box beyond what it remembers of every draft. */
export interface BoxMemory extends DraftMemory {
  /** The version that status says is being made, by that text, and how sending it ended. */
  publishing: { key: string; outcome: 'unsent' | 'unknown'; seenAt: number } | undefined;
  /** When the single read began with which the versions were read last. */
  versionsOf: number | undefined;
}
