import { isFinal, isSuperseded, isWaitingJoin, STATUSES, type Status, type StreamEvent } from '../../stream/event.ts'
import { findForeignWrite } from '../../stream/journal/history.ts'
import { applyOperation } from '../../stream/operations/apply.ts'
import { isWrittenFarAhead } from '../../stream/operations/transaction.ts'
import { claimEndMs, dueMs } from '../../stream/time/deadlines.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { commandWords, nearest } from '../../util/strings.ts'
import { type Examined, endCommand, open } from './examined-stream.ts'
import { type Finding, idList, quoted } from './finding.ts'
import { parentInit } from './structure.ts'

/** Findings about obstacles to the progress of a stream. */
export function* progressFindings(subject: Examined): Generator<Finding> {
  for (const { event, at } of open(subject)) {
    yield* statusFindings(subject, event)
    yield* claimFindings(subject, event)
    yield* overdue(subject, event)
    if (isWaitingJoin(event)) yield* loneJoin(subject, event, at)
    else yield* parentInit(subject, event, at)
  }
  yield* openBelowFinal(subject)
  yield* settleDue(subject)
}

/** Status words of other programs, in lower-case letters. */
const MEANT: ReadonlyMap<string, Status> = new Map(
  Object.entries({
    complete: 'completed',
    done: 'completed',
    finished: 'completed',
    success: 'completed',
    succeeded: 'completed',
    cancelled: 'canceled',
    cancel: 'canceled',
    abort: 'aborted',
    failed: 'aborted',
    error: 'aborted',
    running: 'inprocess',
    started: 'inprocess',
    processing: 'inprocess',
    inprogress: 'inprocess',
    new: 'init',
    pending: 'init',
    created: 'init',
  } as const),
)

function* statusFindings(subject: Examined, { id, status }: StreamEvent): Generator<Finding> {
  if ((STATUSES as readonly string[]).includes(status)) return
  const word = status.toLowerCase().replace(/[^a-z]/g, '')
  const meant = MEANT.get(word) ?? STATUSES.find(known => known === nearest(word, STATUSES))
  const what = status === '' ? 'it has no status' : `the status ${quoted(status)} is not known`
  const command = meant && commandFor(meant, subject, id)
  yield {
    severity: 'warning',
    code: status === '' ? 'no-status' : 'unknown-status',
    subject: id,
    message: `${what}: it counts as open${meant === undefined ? '' : `. Did you mean "${meant}"?`}`,
    ...(command === undefined ? {} : { command }),
  }
}

/** The command that gives an event this final status. */
function commandFor(status: Status, subject: Examined, id: string): readonly string[] | undefined {
  switch (status) {
    case 'completed':
      return commandWords(['event', 'complete'], [subject.name, id])
    case 'aborted':
      return commandWords(['event', 'fail'], [subject.name, id])
    case 'canceled':
      return endCommand('cancel', subject, id)
    case 'init':
    case 'inprocess':
      return undefined
    default:
      return status satisfies never
  }
}

function* claimFindings({ stream, nowMs }: Examined, event: StreamEvent): Generator<Finding> {
  const { owner, until } = event.lc
  if (!owner || !until) return
  const endMs = claimEndMs(event)
  if (endMs === undefined) {
    const message = `the end of ${quoted(owner)}'s claim cannot be read (${quoted(until)}), so the claim is ignored`
    yield { severity: 'warning', code: 'claim-unreadable', subject: event.id, message }
  } else if (endMs <= nowMs) {
    yield {
      severity: 'warning',
      code: 'claim-expired',
      subject: event.id,
      message: `${quoted(owner)} has sent no heartbeat since its claim expired ${formatDuration(nowMs - endMs)} ago`,
      hint: stream.suspended
        ? 'The stream is suspended: a worker takes it over when it is resumed.'
        : 'The next worker of this step takes it over. Is one there?',
      command: ['workers', ...(event.name === '' ? [] : ['--waiting-on', event.name])],
    }
  }
}

function* overdue(subject: Examined, event: StreamEvent): Generator<Finding> {
  const due = dueMs(subject.stream, event, subject.read)
  if (due === undefined || due > subject.nowMs) return
  const since = formatDuration(subject.nowMs - due)
  yield {
    severity: 'warning',
    code: 'overdue',
    subject: event.id,
    message: `its timeout (${event.timeout}) expired ${since} ago and the event is still open`,
    hint: 'leasectl watchdog status shows whether a watchdog covers it; watchdog --dry-run shows what it would do.',
    command: endCommand('abort', subject, event.id),
  }
}

function* loneJoin(subject: Examined, { id }: StreamEvent, at: number): Generator<Finding> {
  // A waiting root has its own finding.
  if (at === 0 || subject.stream.predecessorPositions(at).length > 0) return
  yield {
    severity: 'error',
    code: 'join-alone',
    subject: id,
    message: 'a join that waits for its branches, but no event forks to it: it will never be released',
    command: endCommand('cancel', subject, id),
  }
}

function* openBelowFinal(subject: Examined): Generator<Finding> {
  const below = new Map<StreamEvent, string[]>()
  const above = finalAbove(subject)
  for (const { event, at } of open(subject)) {
    const ancestor = above.get(at)
    if (ancestor === undefined) continue
    const ids = below.get(ancestor)
    if (ids === undefined) below.set(ancestor, [event.id])
    else ids.push(event.id)
  }
  for (const [{ id, status }, ids] of below) {
    yield {
      severity: 'warning',
      code: 'open-below-final',
      subject: id,
      message: `it is ${status}, but events below it are still open: ${idList(ids)}; their workers are stopped`,
      command: endCommand('cancel', subject, id),
    }
  }
}

/** The nearest final event above each position. The root is above everything. */
function finalAbove({ stream, counted, root }: Examined): ReadonlyMap<number, StreamEvent> {
  const above = new Map<number, StreamEvent>()
  let edge = counted.filter(({ event }) => isFinal(event)).map(({ event, at }) => ({ final: event, at }))
  while (edge.length > 0) {
    const following: typeof edge = []
    for (const { final, at } of edge) {
      for (const next of stream.successorPositions(at)) {
        const event = stream.at(next)
        if (event === undefined || isFinal(event) || above.has(next)) continue
        above.set(next, final)
        following.push({ final, at: next })
      }
    }
    edge = following
  }
  if (!isFinal(root) || isSuperseded(root)) return above
  for (const { at } of counted) if (at !== 0 && !above.has(at)) above.set(at, root)
  return above
}

/** Tries the settling of the next change on the document, which shows the events that foreign writers left. */
function* settleDue({ document, stored, nowMs }: Examined): Generator<Finding> {
  const context = { nowMs, versionFloor: stored.versionFloor, lastModifiedMs: stored.modifiedMs, born: document.born }
  const settled = applyOperation(document, { op: 'settle' }, { commandId: '', by: '' }, context)
  if (settled.kind !== 'changed') return
  const { closed, joined, changed } = settled.result
  // An older copy and a wrong clock have their own findings.
  const isReportedElsewhere =
    findForeignWrite(document, stored.versionFloor)?.isOlderCopy || isWrittenFarAhead(document, nowMs)
  if (changed.length === 0 && isReportedElsewhere) return
  const parts = [
    ...(closed.length > 0 ? [`to close: ${idList(closed)}`] : []),
    ...(joined.length > 0 ? [`to release, as its branches have ended: ${idList(joined)}`] : []),
    ...(changed.length === 0 ? ['attributes of leasectl to restore'] : []),
  ]
  yield {
    severity: joined.length > 0 ? 'warning' : 'info',
    code: 'settle-due',
    subject: '',
    message: `another program left work to settle; ${parts.join('; ')}`,
    hint: 'A watchdog or the next change of the stream does it.',
  }
}
