import { isExpiry } from './checker.ts'
import type { EntrySight, EventSight, Happening, Wrote } from './happenings.ts'
import type { Random } from './random.ts'

/** An expiry in a good history, with what it ended. */
export interface Expiry {
  readonly wrote: Wrote
  readonly entry: EntrySight
  /** The event whose limit ended, as it was before, and its last sign of life. */
  readonly event: EventSight
  readonly life: Wrote
}

/** What two clocks may differ by is no fault, ms. */
const SKEW_MS = 5_000

/** Spoils the history of one stream: it has to be found out. `undefined`: this expiry is none that it would spoil. */
export type Mutation = (
  history: readonly Happening[],
  expiry: Expiry,
  random: Random,
) => readonly Happening[] | undefined

/** All that was written to a stream, and what happened to everybody. */
export function historyOf(happenings: readonly Happening[], stream: string): Happening[] {
  return happenings.filter(
    happening => !('stream' in happening) || happening.stream === stream || happening.stream === '',
  )
}

/** The expiries of one stream. */
export function expiriesIn(history: readonly Happening[]): Expiry[] {
  const found: Expiry[] = []
  const lives = new Map<string, Wrote>()
  const sights = new Map<string, EventSight>()
  for (const happening of history) {
    if (happening.kind !== 'wrote') continue
    for (const entry of happening.entries.filter(isExpiry)) {
      const id = entry.commandId.split(':')[1] ?? ''
      const [event, life] = [sights.get(id), lives.get(id)]
      if (event !== undefined && life !== undefined) found.push({ wrote: happening, entry, event, life })
    }
    for (const sight of happening.events) {
      if (sights.get(sight.id)?.timestamp !== sight.timestamp) lives.set(sight.id, happening)
      sights.set(sight.id, sight)
    }
  }
  return found
}

/** The expiry never happened, nor did anybody tell of it. */
const drop: Mutation = (history, { wrote, entry }) =>
  history.filter(h => h !== wrote && !(h.kind === 'carried' && h.commandId === entry.commandId))

/** It happened twice: again under the same id, or under another. */
const double: Mutation = (history, { wrote, entry }, random) => {
  const commandId = random.chance(0.5) ? entry.commandId : `${entry.commandId}:again`
  const again = { ...wrote, ...later(wrote, random.whole(1, 600_000)), entries: [{ ...entry, commandId }] }
  return inOrder([...history, again])
}

/** Two watchdogs say that they did it. */
const boast: Mutation = (history, { wrote, entry, event }) => {
  const { stream } = wrote
  const told = { kind: 'carried', stream, event: event.id, commandId: entry.commandId, outcome: 'ended' } as const
  const liar = { ...told, atMs: wrote.atMs + 1_000, who: 'dog-9' }
  return inOrder([...history, { ...liar, who: 'dog-8' }, liar])
}

/** It changes places with the sign of life before it. */
const swap: Mutation = (history, { wrote, life }) =>
  inOrder(history.map(h => (h === wrote ? { ...wrote, ...at(life) } : h === life ? { ...life, ...at(wrote) } : h)))

/** It happened some time before the limit ended. What a retry opens may be past its limit at once. */
const hurry: Mutation = (history, { wrote, life, entry }, random) => {
  const dueMs = Date.parse(entry.commandId.split(':').slice(3).join(':'))
  if (dueMs - life.atMs < SKEW_MS) return undefined
  const when = at({ atMs: random.between(life.atMs + 1, dueMs - SKEW_MS) })
  return inOrder(history.map(h => (h === wrote ? { ...wrote, ...when } : h)))
}

/** The worker had shown life just before: what was decided was decided by an old state. To other limits that is nothing. */
const staleRead: Mutation = (history, { wrote, event }, random) => {
  if (event.status === 'init' || event.timeout.includes('T') || event.prev === '') return undefined
  const before = at({ atMs: wrote.atMs - random.whole(1, 300_000) })
  const timestamp = new Date(before.atMs).toISOString()
  return inOrder([...history, { ...wrote, ...before, who: 'worker-0', entries: [], events: [{ ...event, timestamp }] }])
}

/** What was ended is worked on as if nothing had been. */
const resurrect: Mutation = (history, { wrote, event }, random) => {
  const after = later(wrote, random.whole(1, 600_000))
  const timestamp = new Date(after.atMs).toISOString()
  return inOrder([...history, { ...wrote, ...after, who: 'worker-0', entries: [], events: [{ ...event, timestamp }] }])
}

export const MUTATIONS = { drop, double, boast, swap, hurry, 'stale read': staleRead, resurrect } as const

function later({ atMs }: Wrote, ms: number) {
  return at({ atMs: atMs + ms })
}

function at({ atMs }: Pick<Wrote, 'atMs'>) {
  return { atMs, sentMs: atMs }
}

/** Of what happened at the same time what came first stays first. */
function inOrder(history: readonly Happening[]): readonly Happening[] {
  return [...history].sort((a, b) => a.atMs - b.atMs)
}
