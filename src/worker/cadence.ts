import type { StreamEvent } from '../stream/event.ts'
import { parseTimeout } from '../stream/time/deadlines.ts'

/** Heartbeats for the sake of an event's timeout come no more often, ms: each writes the document anew. */
const FASTEST_MS = 500

/**
 * The usual time between two heartbeats, ms: a third of the claim or of what the event's own timeout allows, whichever is
 * shorter. One of 0 has ended whatever is heard.
 *
 * @param silenceMs how long the event may give no sign of life; `undefined` without such a limit
 */
export function beatMs(claimMs: number, silenceMs: number | undefined): number {
  if (silenceMs === undefined || silenceMs === 0) return claimMs / 3
  return Math.min(claimMs / 3, Math.max(FASTEST_MS, silenceMs / 3))
}

/**
 * Why an event's own timeout may end it while it is worked on, whatever heartbeats are sent: a clause; `undefined` without such
 * a reason.
 *
 * @param nowMs the store's clock, epoch ms
 */
export function limitWarning(
  { timeout: text }: Pick<StreamEvent, 'timeout'>,
  silenceMs: number | undefined,
  nowMs: number,
): string | undefined {
  const timeout = parseTimeout(text)
  if (silenceMs === 0 || (timeout.kind === 'at' && timeout.ms <= nowMs)) {
    return 'its timeout is over: a watchdog ends it while it is worked on'
  }
  if (silenceMs === undefined || silenceMs >= 3 * FASTEST_MS) return undefined
  const [given, least] = [silenceMs / 1_000, (3 * FASTEST_MS) / 1_000]
  return `its timeout of ${given}s is too short for heartbeats, which keep up with ${least}s: a watchdog may end it while it is worked on`
}
