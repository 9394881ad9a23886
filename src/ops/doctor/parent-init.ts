import { isWaitingJoin, type StreamEvent } from '../../stream/event.ts'
import { commandWords } from '../../util/command-words.ts'
import type { Examined } from './examined-stream.ts'
import { type Finding, idList } from './finding.ts'

/** An event that was gone on from, or worked below, without ever having been started itself. */
export function* parentInit(subject: Examined, event: StreamEvent, at: number): Generator<Finding> {
  const { name, stream } = subject
  if (event.status !== 'init') return
  if (stream.held) {
    if (at === 0) yield* heldThoughBegun(subject)
    return
  }
  if (stream.successorPositions(at).length === 0) return
  yield {
    severity: 'warning',
    code: 'parent-init',
    subject: event.id,
    message: 'it has successors but is still init; leasectl takes it for begun, .NET never closes it',
    command: commandWords(['event', 'start'], [name, event.id]),
  }
}

/** Another program forgot the root: leasectl takes the stream for held, though somebody works on it. */
function* heldThoughBegun({ name, root, counted }: Examined): Generator<Finding> {
  const begun = counted.find(({ event, at }) => at !== 0 && event.status !== 'init' && !isWaitingJoin(event))
  if (begun === undefined) return
  const { id, status } = begun.event
  yield {
    severity: 'warning',
    code: 'parent-init',
    subject: root.id,
    message: `it is still init, though ${idList([id])} is ${status}: the stream counts as held, so nothing in it is handed out or falls due`,
    command: commandWords(['event', 'start'], [name, root.id]),
  }
}
