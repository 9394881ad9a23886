import { type StreamView, viewOf } from '../../src/ops/read-stream.ts'
import type { StreamSnapshot } from '../../src/store/store.ts'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../src/stream/document.ts'
import type { StreamEvent } from '../../src/stream/event.ts'
import { EventStream } from '../../src/stream/event-stream.ts'
import { applyOperation } from '../../src/stream/operations/apply.ts'
import type { EventSpec, Operation } from '../../src/stream/operations/operation.ts'
import { summarize } from '../../src/stream/summarize.ts'
import { writeDocument } from '../../src/stream/xml/write.ts'
import type { DataStore } from '../../src/tui/data/store.ts'

/** Sorts before the others. */
export const OPEN = 'a/large'

/** Number of changes each time among the first rows, which are on the screen. */
const SEEN_CHANGES = 12
const SEEN = 28

/** An open stream with many constantly changing events. */
export class TreeLoad {
  readonly #data: DataStore
  #view: StreamView
  #changes = 0

  constructor(data: DataStore, events: number) {
    this.#data = data
    this.#view = viewOf(largeStream(events), Date.now())
    data.openStream(OPEN)
    data.putOpen(OPEN, { kind: 'view', view: this.#view })
    data.putFreshness({ polledMs: Date.now(), intervalMs: 1_000 })
  }

  /** Changes this many of its events, as a complete new state, like after a read. */
  change(count: number): void {
    const events = [...this.#view.document.events]
    for (let nth = 0; nth < count; nth++) {
      this.#changes++
      const at =
        nth < SEEN_CHANGES ? (this.#changes * 5) % SEEN : SEEN + ((this.#changes * 7_919) % (events.length - SEEN))
      const event = events[at]
      if (event !== undefined) events[at] = changedEvent(event)
    }
    this.#view = viewWith(this.#view, events)
    this.#data.putOpen(OPEN, { kind: 'view', view: this.#view })
    this.#data.putFreshness({ polledMs: Date.now() })
  }
}

/** A stored stream of this many events. */
export function largeStream(events: number): StreamSnapshot {
  return storedOf(largeDocument(events))
}

/** The result of reading the changed document, without reading it. */
function viewWith(before: StreamView, events: readonly StreamEvent[]): StreamView {
  const document: StreamDocument = { ...before.document, events, version: before.document.version + 1 }
  const history = before.transactions()
  const last = history.at(-1)
  const at = new Date().toISOString()
  const transactions = last === undefined ? history : [...history, { ...last, version: document.version, at }]
  const { summary } = before.stored
  const stored = {
    ...before.stored,
    etag: `"${document.version}"`,
    ...(summary && { summary: { ...summary, version: document.version } }),
  }
  return {
    ...before,
    stored,
    document,
    stream: new EventStream(events),
    nowMs: Date.now(),
    transactions: () => transactions,
  }
}

function changedEvent(event: StreamEvent): StreamEvent {
  const timestamp = new Date().toISOString()
  if (event.status === 'inprocess') return { ...event, status: 'completed', timestamp, msg: '12 results', lc: {} }
  const until = new Date(Date.now() + 60_000).toISOString()
  return { ...event, status: 'inprocess', timestamp, lc: { owner: `worker-${event.id.length}`, fence: '7', until } }
}

/** A root with branches of five hundred events each. */
function largeDocument(events: number): StreamDocument {
  const spec: EventSpec = { name: 'SearchStart', topic: 'search', timeout: '00:05:00' }
  const forks = (count: number) => Array.from({ length: count }, () => spec)
  const branches = Math.ceil(events / BRANCH)
  let document = applied(EMPTY_DOCUMENT, 0, { op: 'init', root: spec, forks: forks(branches), hold: false, born: BORN })
  for (let branch = 1; document.events.length < events; branch++) {
    const event = `${String(branch).padStart(2, '0')}.00`
    const claim = { owner: 'worker-1', claimMs: 60_000 }
    document = applied(document, 2 * branch, { op: 'start', event, ...claim })
    const more = forks(Math.min(BRANCH - 1, events - document.events.length))
    document = applied(document, 2 * branch + 1, { op: 'advance', event, owner: claim.owner, forks: more })
  }
  return document
}

const BRANCH = 500
const BORN = '11111111-2222-4333-8444-555555555555'

function applied(document: StreamDocument, command: number, operation: Operation): StreamDocument {
  const author = { by: 'worker-1', commandId: `c${command}` }
  const outcome = applyOperation(document, operation, author, { nowMs: Date.now(), versionFloor: 0, born: BORN })
  if (outcome.kind !== 'changed') throw new Error(`${operation.op}: ${JSON.stringify(outcome)}`)
  return outcome.document
}

/** The bytes of its stored document. */
function storedOf(document: StreamDocument): StreamSnapshot {
  const nowMs = Date.now()
  const body = Buffer.from(writeDocument(document).text)
  const summary = summarize(document, { lastModifiedMs: nowMs, nowMs, lastBy: 'worker-1' })
  const lease = { state: 'available' } as const
  return { name: OPEN, etag: '"1"', size: body.length, modifiedMs: nowMs, lease, body, summary, versionFloor: 0 }
}
