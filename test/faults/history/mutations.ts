import type { Random } from '../../simulation/random.ts'
import type { History } from './good-histories.ts'
import type { Call, Entry, Told } from './history.ts'
import { type FinalStream, livesOf, mayBeginAnew } from './lives.ts'

/** Corrupts a good history so that the checker must detect it. `undefined`: this history has nothing to corrupt. */
export type Mutation = (history: History, random: Random) => History | undefined

type Named = FinalStream & { readonly name: string }
type Change = Call & { readonly asked: { readonly what: 'change' } }
type Done = Change & { readonly told: { readonly kind: 'done' }; readonly toUs: number }
type Read = Call & { readonly told: Told & { readonly kind: 'seen' }; readonly toUs: number }

/** A change reported as made is missing. */
const drop: Mutation = (history, random) => {
  const found = someStream(history, random, 2)
  const dropped = found && someDone(history, found, random)
  if (dropped === undefined) return undefined
  const kept = found?.journal.filter(entry => entry !== dropped) ?? []
  return withJournal(history, found, random.chance(0.5) ? numbered(kept) : kept)
}

/** A change with an unknown outcome replaces one that was reported as made. */
const replace: Mutation = (history, random) => {
  const found = someStream(history, random, 2)
  const place = found && someDone(history, found, random)
  if (place === undefined) return undefined
  const call: Call = {
    stream: found?.name ?? '',
    asked: { what: 'change', id: 'other', born: found?.born ?? '' },
    fromUs: 0,
  }
  const journal = found?.journal.map(entry => (entry === place ? { ...entry, id: 'other' } : entry)) ?? []
  return withJournal({ ...history, calls: [...history.calls, call] }, found, journal)
}

/** A change is applied twice. */
const double: Mutation = (history, random) => {
  const found = someStream(history, random, 1)
  const entry = found && pickFrom(found.journal, random)
  return entry && withJournal(history, found, numbered([...(found?.journal ?? []), entry]))
}

/** Two changes are swapped, of which one was applied before the other was requested. */
const swap: Mutation = (history, random) => {
  const found = someStream(history, random, 2)
  const pairs = (found?.journal ?? []).flatMap(first => {
    const done = doneOf(history, first.id)
    const after = (entry: Entry) => done !== undefined && firstAsked(history, entry.id) > done.toUs
    return (found?.journal ?? []).filter(after).map(second => ({ first, second }))
  })
  const pair = pickFrom(pairs, random)
  if (pair === undefined || found === undefined) return undefined
  const { first, second } = pair
  const other = (entry: Entry) => (entry.id === first.id ? second : entry.id === second.id ? first : entry)
  const journal = found.journal.map(entry => ({ ...entry, id: other(entry).id }))
  const told = (call: Call): Call => {
    if (call.asked.what !== 'change' || call.told?.kind !== 'done') return call
    const { id } = call.asked
    if (id !== first.id && id !== second.id) return call
    return { ...call, told: { kind: 'done', version: id === first.id ? second.version : first.version } }
  }
  // Their reports may be consistent with the final streams.
  const calls = random.chance(0.5) ? history.calls.map(told) : history.calls
  return withJournal({ ...history, calls }, found, journal)
}

/** A read returns the state before a change that was known at its request. */
const staleRead: Mutation = (history, random) => {
  const reads = plainReads(history).flatMap(read => {
    const done = history.calls.filter(isDone).filter(({ asked, toUs }) => {
      return asked.born === read.told.born && asked.what === 'change' && toUs < read.fromUs
    })
    const knownVersion = Math.max(0, ...done.map(({ told }) => told.version))
    return knownVersion > 1 ? [{ read, version: random.whole(1, knownVersion - 1) }] : []
  })
  const stale = pickFrom(reads, random)
  if (stale === undefined) return undefined
  const { read, version } = stale
  const journal = journalOf(history, read.stream, read.told.born)
  const told: Told = { ...read.told, version, id: journal[version - 1]?.id ?? read.told.id }
  return withCall(history, read, { ...read, told })
}

/** A read returns a change that has not been requested yet. */
const foresee: Mutation = (history, random) => {
  const read = pickFrom(plainReads(history), random)
  const journal = read === undefined ? [] : journalOf(history, read.stream, read.told.born)
  const askedUs = read && firstAsked(history, journal[read.told.version - 1]?.id ?? '')
  if (read === undefined || askedUs === undefined || askedUs === Number.POSITIVE_INFINITY) return undefined
  return withCall(history, read, { ...read, fromUs: askedUs - 2, toUs: askedUs - 1 })
}

/** A removed stream is read again, or exists in the end. */
const resurrect: Mutation = (history, random) => {
  const isRemoved = ({ asked, stream, told }: Call) =>
    asked.what === 'remove' && told?.kind === 'done' && isPlain(history, stream, asked.born)
  const removal = pickFrom(history.calls.filter(isRemoved), random)
  if (removal?.asked.what !== 'remove' || removal.toUs === undefined) return undefined
  const { born, journal } = removal.asked
  const { version, id } = journal.at(-1) ?? { version: 0, id: '' }
  if (random.chance(0.5)) {
    const streams = new Map(history.streams).set(removal.stream, { born, journal, id })
    return { ...history, streams }
  }
  const [fromUs, toUs] = [removal.toUs + 1, removal.toUs + 2]
  const told: Told = { kind: 'seen', born, version, id }
  return {
    ...history,
    calls: [...history.calls, { stream: removal.stream, asked: { what: 'read' }, fromUs, toUs, told }],
  }
}

/** A change reported as not made exists. */
const invent: Mutation = (history, random) => {
  const found = someStream(history, random, 1)
  const refused = pickFrom(
    history.calls.filter(isChange).filter(({ asked, told, stream }) => {
      const isAlone = history.calls.filter(({ asked: other }) => 'id' in other && other.id === asked.id).length === 1
      return isAlone && told?.kind === 'not-made' && stream === found?.name && asked.born === found.born
    }),
    random,
  )
  if (found === undefined || refused === undefined) return undefined
  return withJournal(history, found, numbered([...found.journal, { version: 0, id: refused.asked.id }]))
}

/** A version is missing. */
const misnumber: Mutation = (history, random) => {
  const found = someStream(history, random, 1)
  const last = found?.journal.at(-1)
  if (found === undefined || last === undefined) return undefined
  return withJournal(history, found, [...found.journal.slice(0, -1), { ...last, version: last.version + 1 }])
}

export const MUTATIONS = { drop, replace, double, swap, 'stale read': staleRead, foresee, resurrect, invent, misnumber }

/** An entry of its journal that was reported as made. */
function someDone(history: History, { journal }: FinalStream, random: Random): Entry | undefined {
  return pickFrom(
    journal.filter(({ id }) => doneOf(history, id) !== undefined),
    random,
  )
}

function someStream(history: History, random: Random, least: number): Named | undefined {
  const long = [...history.streams].filter(([name, { born, journal }]) => {
    return journal.length >= least && isPlain(history, name, born)
  })
  return pickFrom(
    long.map(([name, stream]) => ({ name, ...stream })),
    random,
  )
}

function plainReads(history: History): Read[] {
  return history.calls.filter(isRead).filter(({ stream, told }) => isPlain(history, stream, told.born))
}

/** All rules apply to it. */
function isPlain({ calls, streams }: History, stream: string, born: string): boolean {
  const life = livesOf(calls, streams).find(({ name }) => name === `${stream}@${born}`)
  return life === undefined || !mayBeginAnew(life)
}

function withJournal(history: History, stream: Named | undefined, journal: readonly Entry[]): History | undefined {
  if (stream === undefined) return undefined
  const { name, born } = stream
  return { ...history, streams: new Map(history.streams).set(name, { born, journal, id: journal.at(-1)?.id ?? '' }) }
}

function withCall(history: History, before: Call, after: Call): History {
  return { ...history, calls: history.calls.map(call => (call === before ? after : call)) }
}

function journalOf({ calls, streams }: History, stream: string, born: string): readonly Entry[] {
  const there = streams.get(stream)
  if (there?.born === born) return there.journal
  const removals = calls.flatMap(({ asked }) => (asked.what === 'remove' && asked.born === born ? [asked.journal] : []))
  return removals.reduce((longest, journal) => (journal.length > longest.length ? journal : longest), [])
}

function numbered(entries: readonly Entry[]): Entry[] {
  return entries.map(({ id }, at) => ({ id, version: at + 1 }))
}

function doneOf({ calls }: History, id: string): Done | undefined {
  return calls.filter(isDone).find(({ asked }) => asked.id === id)
}

function firstAsked({ calls }: History, id: string): number {
  return Math.min(
    ...calls.filter(isChange).map(({ asked, fromUs }) => (asked.id === id ? fromUs : Number.POSITIVE_INFINITY)),
  )
}

function isChange(call: Call): call is Change {
  return call.asked.what === 'change'
}

function isDone(call: Call): call is Done {
  return isChange(call) && call.told?.kind === 'done'
}

function isRead(call: Call): call is Read {
  return call.asked.what === 'read' && call.told?.kind === 'seen'
}

function pickFrom<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[random.whole(0, items.length - 1)]
}
