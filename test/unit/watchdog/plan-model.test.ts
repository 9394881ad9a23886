import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { timeReaderFor } from '../../../src/stream/time/deadlines.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'
import { type Observations, planStream } from '../../../src/watchdog/plan.ts'
import { RUNS } from '../../support/arbitraries.ts'
import { documentText, type EventText } from '../../support/stream-builder.ts'
import { START_MS } from './watch-world.ts'

const S = 1_000
const APART = 10 * S
const iso = (ms: number) => new Date(START_MS + ms).toISOString()

/** An event of the model. Times in ms from the start. */
interface Sketch {
  readonly parent: number
  readonly status: string
  readonly createdMs: number
  readonly touchedMs: number
  /** Ms, an absolute time, or none. */
  readonly timeout: { readonly after: number } | { readonly at: number } | undefined
  readonly attempt: number
  readonly onDue: string
}

/** One observation: its time, its document, and the time since which that was known. */
interface Look {
  readonly atMs: number
  readonly knownMs: number
  readonly events: readonly Sketch[]
}

const isOpen = ({ status }: Sketch) => !['completed', 'aborted', 'canceled'].includes(status)

/** The rule, event by event and observation by observation, from the whole history: no state is carried over. */
class Model {
  readonly #looks: readonly Look[]
  readonly #usual: string
  /** The notifications after each observation. */
  readonly #told: ReadonlyMap<Look, readonly number[]>

  constructor(looks: readonly Look[], usual: string, told: ReadonlyMap<Look, readonly number[]>) {
    this.#looks = looks
    this.#usual = usual
    this.#told = told
  }

  get #now(): Look {
    const now = this.#looks.at(-1)
    if (now === undefined) throw new Error('no look')
    return now
  }

  limitAt(look: Look, index: number): { readonly moves: boolean; readonly dueMs: number } | undefined {
    const event = look.events[index]
    const [root] = look.events
    if (event?.timeout === undefined || !isOpen(event) || root?.status === 'init') return undefined
    if ('at' in event.timeout) return { moves: false, dueMs: event.timeout.at }
    const { after } = event.timeout
    if (index === 0) return { moves: false, dueMs: event.createdMs + after }
    const children = look.events.filter(({ parent }, at) => at !== index && at > 0 && parent === index)
    if (event.status === 'init' && children.length === 0) return { moves: false, dueMs: event.createdMs + after }
    if (children.some(isOpen)) return undefined
    return { moves: true, dueMs: Math.max(event.touchedMs, ...children.map(({ touchedMs }) => touchedMs)) + after }
  }

  /** Consecutive observations, up to the last, in which the event was due by the same deadline and exactly the same. */
  #row(index: number, toTheLetter: boolean): readonly Look[] {
    const face = (look: Look) => {
      const limit = this.limitAt(look, index)
      const event = look.events[index]
      if (limit === undefined || event === undefined || limit.dueMs > look.atMs) return undefined
      const { status, attempt, touchedMs } = event
      return [attempt, limit.dueMs, ...(toTheLetter ? [status, touchedMs] : [])].join()
    }
    const wanted = face(this.#now)
    if (wanted === undefined) return []
    const different = this.#looks.findLastIndex(look => face(look) !== wanted)
    return this.#looks.slice(different + 1)
  }

  isRipe(index: number): boolean {
    const limit = this.limitAt(this.#now, index)
    const due = this.#row(index, false)
    const [first] = due
    if (first === undefined || limit === undefined) return false
    if (due.some(look => this.#told.get(look)?.includes(index))) return false
    const sinceMs = limit.moves ? Math.min(...this.#row(index, true).map(({ knownMs }) => knownMs)) : first.atMs
    return this.#now.atMs - sinceMs >= APART
  }

  actionOf(index: number): string {
    const own = this.#now.events[index]?.onDue ?? ''
    const action = ['abort-event', 'abort-stream', 'notify'].includes(own) ? own : this.#usual
    return index === 0 && action === 'abort-event' ? 'abort-stream' : action
  }

  expected(): string[] {
    const { events } = this.#now
    const ripe = events.flatMap((_, at) => (this.isRipe(at) ? [at] : []))
    const ender = ripe.find(at => this.actionOf(at) === 'abort-stream')
    if (ender !== undefined) return [`abort-stream ${idOf(ender)}`]
    const ending = ripe.filter(at => this.actionOf(at) !== 'notify')
    const isBelow = (at: number, above: number): boolean => {
      const parent = events[at]?.parent ?? 0
      return at !== 0 && (parent === above || isBelow(parent, above))
    }
    const kept = ripe.filter(at => !ending.some(above => above !== at && isBelow(at, above)))
    return kept.map(at => `${this.actionOf(at)} ${idOf(at)}`)
  }
}

const idOf = (index: number) => (index === 0 ? '00' : `0${index}.00`)
const indexOf = (id: string) => Number(id.slice(0, 2))

function textOf(events: readonly Sketch[]): string {
  const texts = events.map((event, at): EventText => {
    const { timeout, attempt, onDue } = event
    const next = events.flatMap(({ parent }, child) => (child > 0 && parent === at ? [idOf(child)] : []))
    return {
      id: idOf(at),
      status: event.status,
      created: iso(event.createdMs),
      timestamp: iso(event.touchedMs),
      ...(timeout === undefined ? {} : { timeout: 'at' in timeout ? iso(timeout.at) : span(timeout.after) }),
      ...(at === 0 ? {} : { prev: idOf(event.parent) }),
      ...(next.length === 0 ? {} : { next: next.join('|') }),
      'lc:attempt': String(attempt),
      ...(onDue === '' ? {} : { 'lc:onDue': onDue }),
    }
  })
  return documentText(...texts)
}

const span = (ms: number) => `00:00:${String(ms / S).padStart(2, '0')}`

const seconds = (max: number) => fc.integer({ min: 0, max }).map(n => n * S)
const aSketch = (): fc.Arbitrary<Sketch> =>
  fc.record({
    parent: fc.nat(5),
    status: fc.constantFrom('init', 'inprocess', 'inprocess', 'inprocess', 'completed', 'paused'),
    createdMs: seconds(20),
    touchedMs: seconds(20),
    timeout: fc.oneof(
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 5, arbitrary: seconds(30).map(after => ({ after })) },
      { weight: 1, arbitrary: seconds(40).map(at => ({ at })) },
    ),
    attempt: fc.constantFrom(1, 2),
    onDue: fc.constantFrom('', '', '', 'notify', 'abort-event', 'abort-stream', 'explode'),
  })

/** The changes to the document between two observations. */
type Edit = (events: readonly Sketch[], atMs: number) => readonly Sketch[]
const anEdit = (): fc.Arbitrary<Edit> =>
  fc.record({ which: fc.nat(5), how: fc.constantFrom('touch', 'touch', 'end', 'retry', 'limit', 'other') }).map(
    ({ which, how }) =>
      (events, atMs) =>
        events.map((event, at) => {
          if (at !== which % events.length) return event
          if (how === 'touch') return { ...event, touchedMs: atMs }
          if (how === 'end') return { ...event, status: 'completed', touchedMs: atMs }
          if (how === 'retry') return { ...event, status: 'init', attempt: event.attempt + 1, createdMs: atMs }
          return how === 'limit' ? { ...event, timeout: { after: 5 * S } } : event
        }),
  )

const aHistory = () =>
  fc.array(fc.record({ waitMs: seconds(12), edits: fc.array(anEdit(), { maxLength: 2 }), tells: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  })

it('the plan follows the rule for the whole history, for any stream and any observations', () => {
  const seen = { ended: 0, spared: 0, told: 0 }
  fc.assert(
    fc.property(
      fc.array(aSketch(), { minLength: 1, maxLength: 6 }),
      aHistory(),
      fc.constantFrom('abort-event', 'abort-stream', 'notify'),
      (sketches, history, usual) => {
        let events: readonly Sketch[] = sketches.map((each, at) => ({
          ...each,
          parent: at === 0 ? 0 : each.parent % at,
        }))
        let sightings: Observations = new Map()
        let [atMs, knownMs] = [20 * S, 20 * S]
        const looks: Look[] = []
        const told = new Map<Look, readonly number[]>()
        for (const { waitMs, edits, tells } of history) {
          atMs += waitMs
          for (const edit of edits) events = edit(events, atMs)
          if (edits.length > 0) knownMs = atMs
          const look = { atMs, knownMs, events }
          looks.push(look)
          const plan = planned(events, { atMs, knownMs, usual, sightings })
          const model = new Model(looks, usual, told)
          expect(plan.expiries.map(({ kind, event }) => `${kind} ${event}`)).toEqual(model.expected())
          sightings = plan.observations
          const notices = tells ? plan.expiries.flatMap(({ kind, event }) => (kind === 'notify' ? [event] : [])) : []
          sightings = tell(notices, sightings)
          told.set(look, notices.map(indexOf))
          seen.ended += plan.expiries.length
          seen.spared += [...sightings.values()].length
          seen.told += notices.length
        }
      },
    ),
    { numRuns: 4 * RUNS },
  )
  // the property is weak unless all of it happens
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20)
})

function planned(
  events: readonly Sketch[],
  look: { readonly atMs: number; readonly knownMs: number; readonly usual: string; readonly sightings: Observations },
) {
  const nowMs = START_MS + look.atMs
  const document = readDocument(textOf(events))
  return planStream(
    {
      name: 's',
      stream: new EventStream(document.events),
      read: timeReaderFor(document, { nowMs }).read,
      observations: look.sightings,
      knownSinceMs: look.knownMs,
      version: 1,
      isUsed: () => false,
    },
    {
      nowMs,
      atMs: look.atMs,
      onDue: look.usual as 'notify',
      apartMs: APART,
      epochMs: Number.NEGATIVE_INFINITY,
      gaps: [],
    },
  )
}

/** The watchdog has notified of them. */
function tell(notices: readonly string[], sightings: Observations): Observations {
  const kept = new Map(sightings)
  for (const event of notices) {
    const sighting = kept.get(event)
    if (sighting !== undefined) kept.set(event, { ...sighting, isNotified: true })
  }
  return kept
}
