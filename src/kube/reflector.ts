/** Something a reflector met: for metrics, and for a log line. It goes on by itself in every case. */
export type ReflectorNotice =
  | { kind: 'listed'; resource: string; items: number; pages: number; durationMs: number }
  | { kind: 'watch-ended'; resource: string; reason: WatchEnd; events: number; durationMs: number }
  | { kind: 'error'; resource: string; during: 'list' | 'watch' | 'handler'; error: Error; delayMs: number };

/** Why a watch ended: server's time-out, 410, an ERROR event, a broken or silent connection, our guard. */
export type WatchEnd = 'closed' | 'expired' | 'error' | 'broken' | 'idle' | 'guard';
