import { isGated, type StreamEvent } from '../../stream/event.ts'
import { dependentsOf, gateIds, waitsFor } from '../../stream/gate.ts'
import { type Examined, endCommand, open } from './examined-stream.ts'
import { type Finding, idList, quoted, sizeText } from './finding.ts'

/** Findings about gates that can never open; only a foreign writer or an edit by hand leaves them. */
export function* gateFindings(subject: Examined): Generator<Finding> {
  for (const { event, at } of open(subject)) {
    if (!isGated(event)) continue
    const message = goneIds(subject, event) ?? cycle(subject, event, at) ?? badTime(event)
    if (message === undefined) continue
    yield {
      severity: 'error',
      code: 'gate-broken',
      subject: event.id,
      message: `${message}: it never begins`,
      hint: 'Correct its condition with event edit, or end it.',
      command: endCommand('cancel', subject, event.id),
    }
  }
}

function goneIds({ stream }: Examined, event: StreamEvent): string | undefined {
  // A numbered step of a session may come before the one that it waits for.
  if (event.lc.step !== undefined) return undefined
  const gone = gateIds(event).filter(id => stream.find(id) === undefined)
  return gone.length === 0 ? undefined : `it begins after ${idList(gone)}, which no event is`
}

function cycle({ stream }: Examined, event: StreamEvent, at: number): string | undefined {
  const ids = gateIds(event)
  if (ids.length === 0) return undefined
  const dependents = dependentsOf(stream, at)
  const waiting = ids.filter(id => dependents.has(stream.positionOf(id)))
  return waiting.length === 0 ? undefined : `it begins after ${idList(waiting)}, which cannot end before it has`
}

function badTime(event: StreamEvent): string | undefined {
  const what = waitsFor(event)
  if (what?.kind !== 'timer' || what.wakeMs !== undefined || event.lc.wake === undefined) return undefined
  return `the time it waits for cannot be read (${quoted(event.lc.wake)})`
}

/** From here on a change of a session takes noticeably longer than one of a short stream. */
const LONG_SESSION = { steps: 1_000, bytes: 1024 * 1024 } as const

/** A finding about a session that should drop its oldest steps. */
export function* sessionFindings({ root, stream, stored }: Examined): Generator<Finding> {
  if (root.lc.session === undefined) return
  const steps = stream.successorPositions(0).length - 1
  if (steps < LONG_SESSION.steps && stored.size < LONG_SESSION.bytes) return
  yield {
    severity: 'warning',
    code: 'session-long',
    subject: '',
    message: `a session of ${steps} steps in ${sizeText(stored.size)}: every change and heartbeat writes all of it`,
    hint: 'event append --keep 100 drops the oldest steps that are done.',
  }
}
