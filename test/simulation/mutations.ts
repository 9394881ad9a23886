import { isExpiry } from './checker.ts'
import type { EntrySight, EventSight, Happening, Wrote } from './happenings.ts'
import type { Random } from './random.ts'

/** An expiry in a good history, with the events it ended. */
export interface Expiry {
  readonly wrote: Wrote
  readonly entry: EntrySight
  /** The event whose deadline passed, as it was before, and its last heartbeat. */
  readonly event: EventSight
  readonly life: Wrote
}

/** The tolerated difference of two clocks, ms. */
const SKEW_MS = 5_000

/** Corrupts the history of one stream so that it must be detected. `undefined`: it does not apply to this expiry. */
export type Mutation = (
  history: readonly Happening[],
  expiry: Expiry,
  random: Random,
) => readonly Happening[] | undefined

/** All writes to a stream, and all faults. */
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

/** The expiry never happened, and was not reported. */
const drop: Mutation = (history, { wrote, entry }) =>
  history.filter(h => h !== wrote && !(h.kind === 'carried' && h.commandId === entry.commandId))

/** It happened twice: again with the same id, or with another. */
const double: Mutation = (history, { wrote, entry }, random) => {
  const commandId = random.chance(0.5) ? entry.commandId : `${entry.commandId}:again`
  const again = { ...wrote, ...later(wrote, random.whole(1, 600_000)), entries: [{ ...entry, commandId }] }
  return inOrder([...history, again])
}

/** Two watchdogs report it as theirs. */
const boast: Mutation = (history, { wrote, entry, event }) => {
  const { stream } = wrote
  const told = { kind: 'carried', stream, event: event.id, commandId: entry.commandId, outcome: 'ended' } as const
  const liar = { ...told, atMs: wrote.atMs + 1_000, who: 'dog-9' }
  return inOrder([...history, { ...liar, who: 'dog-8' }, liar])
}

/** It is swapped with the heartbeat before it. */
const swap: Mutation = (history, { wrote, life }) =>
  inOrder(history.map(h => (h === wrote ? { ...wrote, ...at(life) } : h === life ? { ...life, ...at(wrote) } : h)))

/** It happened some time before the deadline. A reopened event may be past its deadline at once. */
const hurry: Mutation = (history, { wrote, life, entry }, random) => {
  const dueMs = Date.parse(entry.commandId.split(':').slice(3).join(':'))
  if (dueMs - life.atMs < SKEW_MS) return undefined
  const when = at({ atMs: random.between(life.atMs + 1, dueMs - SKEW_MS) })
  return inOrder(history.map(h => (h === wrote ? { ...wrote, ...when } : h)))
}

/** The worker had sent a heartbeat just before: the decision used an old state. Other deadlines are unaffected. */
const staleRead: Mutation = (history, { wrote, event }, random) => {
  if (event.status === 'init' || event.timeout.includes('T') || event.prev === '') return undefined
  const before = at({ atMs: wrote.atMs - random.whole(1, 300_000) })
  const timestamp = new Date(before.atMs).toISOString()
  return inOrder([...history, { ...wrote, ...before, who: 'worker-0', entries: [], events: [{ ...event, timestamp }] }])
}

/** The ended event is worked on as if it were open. */
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

/** Simultaneous occurrences keep their order. */
function inOrder(history: readonly Happening[]): readonly Happening[] {
  return [...history].sort((a, b) => a.atMs - b.atMs)
}
