import { isFinal, isSuperseded, isWaitingJoin, type StreamEvent } from '../../stream/event.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import { cached } from '../cached.ts'

/** What only a look at every event of a stream tells. */
export interface EveryEvent {
  /** What each event is, by its position: the sum of the marks that apply. */
  readonly marks: Uint8Array
  /** Status of each event by its position; `waiting` for a join that waits. */
  readonly words: readonly string[]
  /** Who has an event in hand. */
  readonly owners: ReadonlySet<string>
  /** The steps that undo others, by the ids of these. */
  readonly undoSteps: ReadonlyMap<string, StreamEvent>
}

/** `started`: `inprocess`, and no join that waits. `counts`: not superseded. */
export const MARKS = { counts: 1, completed: 2, canceled: 4, aborted: 8, started: 16, owned: 32 } as const

/** One look for all of it: in a large stream most of the time goes to fetching the events from memory. */
export const everyEvent = cached(({ events }: EventStream): EveryEvent => {
  const marks = new Uint8Array(events.length)
  const words: string[] = []
  const owners = new Set<string>()
  const undoSteps = new Map<string, StreamEvent>()
  for (const [at, event] of events.entries()) {
    const { status } = event
    const { owner, undoes, join } = event.lc
    const counts = !isSuperseded(event)
    marks[at] =
      (counts ? MARKS.counts : 0) |
      (status === 'completed' ? MARKS.completed : 0) |
      (status === 'canceled' ? MARKS.canceled : 0) |
      (status === 'aborted' ? MARKS.aborted : 0) |
      (status === 'inprocess' && join !== 'wait' ? MARKS.started : 0) |
      (owner === undefined ? 0 : MARKS.owned)
    words.push(isWaitingJoin(event) ? 'waiting' : status)
    if (owner !== undefined && !isFinal(event)) owners.add(owner)
    if (undoes !== undefined && counts && !undoSteps.has(undoes)) undoSteps.set(undoes, event)
  }
  return { marks, words, owners, undoSteps }
})
