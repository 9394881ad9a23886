import type { Summary } from '../stream/summary.ts'
import type { SummarizedStream } from './summaries.ts'

/** What a stream waits on, as far as its summary tells. */
export type Waits = Pick<Summary, 'root' | 'waitingOn' | 'ready'> & { readonly held?: true }

/** An event that streams wait on: by name and topic where they are known, else by id. */
export interface AwaitedEvent {
  /** Name of the root event: the kind of stream. */
  readonly root: string
  readonly event?: string
  readonly name?: string
  readonly topic?: string
  /** `held`: the whole stream waits for its release. Absent where it is not known. */
  readonly state?: 'not started' | 'started' | 'held'
}

/** `undefined` for a stream that waits on nothing or whose summary is not known. */
export function waitsOf({ summary }: SummarizedStream): Waits | undefined {
  if (summary === undefined || summary.waitingOn.length === 0) return undefined
  const { root, waitingOn, ready, status } = summary
  return { root, waitingOn, ready, ...(status === 'init' && ready.length === 0 ? { held: true } : {}) }
}

/**
 * Names what streams wait on. A summary has the ids of all open leaves, and name and topic of those that can be started,
 * but not which is which. Where all can be started they stand in the same order: that tells the names of ids for the
 * other streams with the same root event.
 */
export function namesOfWaits(all: readonly Waits[]): (waits: Waits) => readonly (AwaitedEvent & { group: string })[] {
  const known = new Map<string, string>()
  for (const { root, waitingOn, ready } of all) {
    if (sizeOf(ready) !== sizeOf(waitingOn)) continue
    for (const [at, item] of ready.entries()) if (isItem(item)) known.set(keyOf(root, waitingOn[at] ?? ''), item)
  }
  return waits => distinct(eventsOf(waits, known)).map(event => ({ group: textOf(event), ...event }))
}

function eventsOf({ root, waitingOn, ready, held }: Waits, known: ReadonlyMap<string, string>): AwaitedEvent[] {
  if (held) return waitingOn.map(event => ({ root, event, state: 'held' }))
  const startable = ready.filter(isItem)
  const events: AwaitedEvent[] = []
  const nameless: AwaitedEvent[] = []
  for (const event of waitingOn.filter(isItem)) {
    const item = known.get(keyOf(root, event))
    const at = item === undefined ? -1 : startable.indexOf(item)
    if (item === undefined) nameless.push({ root, event })
    else events.push(named(root, item, at >= 0 ? 'not started' : 'started'))
    if (at >= 0) startable.splice(at, 1)
  }
  const rest = startable.map(item => named(root, item, 'not started'))
  // as many ids as names are left: they are the same events
  if (nameless.length <= rest.length) return [...events, ...rest]
  const state = ready.length === 0 ? { state: 'started' as const } : {}
  return [...events, ...rest, ...nameless.map(event => ({ ...event, ...state }))]
}

function named(root: string, item: string, state: 'not started' | 'started'): AwaitedEvent {
  const [name = '', topic = ''] = item.split('|').map(decoded)
  return { root, name, ...(topic === '' ? {} : { topic }), state }
}

/** A stream counts once for events of the same name. */
function distinct(events: readonly AwaitedEvent[]): AwaitedEvent[] {
  return [...new Map(events.map(event => [JSON.stringify(event), event])).values()]
}

function textOf({ root, event, name, state }: AwaitedEvent): string {
  if (state === 'held') return `${root}: held`
  const what = name === undefined ? `${root} ${event ?? ''}` : `${root}: ${name}`
  return state === undefined ? what : `${what} ${state}`
}

function keyOf(root: string, event: string): string {
  return JSON.stringify([root, event])
}

/** How many items a list has, those that were cut from it too: its last item `+N` tells them. */
function sizeOf(items: readonly string[]): number {
  return items.reduce((sum, item) => sum + (isItem(item) ? 1 : Number(item)), 0)
}

function isItem(item: string): boolean {
  return !/^\+\d+$/.test(item)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
