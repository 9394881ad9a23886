import { changeSystemDocument } from '../../../../src/ops/system-documents.ts'
import { WATCHDOG_STATE } from '../../../../src/ops/watchdog-state/parse.ts'
import type { WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { newEntry, withEntry } from '../../../../src/watchdog/state/entry.ts'

/** A watchdog of a machine, in its state 4 s after a sweep. */
export function aWatchdog(nowMs: number, more: Partial<WatchdogEntry> = {}): WatchdogEntry {
  const settings = { match: undefined, onDue: 'abort-event', maxPerPass: 1_000, maxShare: 0.2 }
  const started = { intervalMs: 10_000, settings, startedMs: nowMs - 60_000 }
  return {
    ...newEntry({ id: 'w1', host: 'aks-3', pid: 41, version: '0.1.0', by: 'ada@aks-3', ...started }),
    writtenMs: nowMs - 4_000,
    lastSweepMs: nowMs - 4_000,
    tookMs: 120,
    lastPass: {
      kind: 'sweep',
      startedMs: nowMs - 4_120,
      tookMs: 120,
      total: 12_431,
      watched: 5_012,
      openEvents: 20_000,
      overdue: 1,
      documents: 3,
      unreadable: 0,
      endedEvents: 2,
      deferred: 0,
      outcomes: { ended: 2, 'showed-life': 1 },
      skewMs: -3,
    },
    passes: [{ startedMs: nowMs - 4_120, tookMs: 120, ended: 2, overdue: 1 }],
    decisions: [
      {
        stream: 'orders/4711',
        kind: 'abort-event',
        event: '01.00',
        limit: 'no-sign-of-life',
        dueMs: nowMs - 5_000,
        outcome: 'ended',
        atMs: nowMs - 4_860,
      },
      {
        stream: 'orders/old',
        kind: 'settle',
        event: undefined,
        limit: undefined,
        dueMs: undefined,
        outcome: 'settled',
        atMs: nowMs - 50_000,
      },
    ],
    breaker: { isOpen: false, wouldEnd: 2, openEvents: 20_000, maxShare: 0.2 },
    next: [{ stream: 'orders/4712', dueMs: nowMs + 65_000 }],
    shards: { held: [0, 1, 2, 5], total: 8 },
    totals: { passes: 6, failed: 0, ended: 2 },
    ...more,
  }
}

/** A watchdog with failing passes: the store refused the listing. */
export function failingWatchdog(nowMs: number, more: Partial<WatchdogEntry> = {}): WatchdogEntry {
  const failure = {
    startedMs: nowMs - 4_000,
    sinceMs: nowMs - 120_000,
    code: 'not-permitted',
    message: 'no right to list',
  }
  return aWatchdog(nowMs, { id: 'w2', pid: 42, failure, lastFailure: failure, ...more })
}

/** Writes the state of watchdogs like they do. */
export async function writeState(store: StreamStore, entries: readonly WatchdogEntry[]): Promise<void> {
  for (const entry of entries) {
    const change = (text: string | undefined) => withEntry(text, entry, store.nowMs())
    await changeSystemDocument(store, WATCHDOG_STATE, change, { by: entry.by, purpose: 'test' })
  }
}
