import type { EventStore } from '../store/store.ts'
import { ownText } from '../util/strings.ts'
import { Awaited } from './awaited.ts'
import type { Selection } from './selection.ts'
import type { WaitTarget } from './wait-target.ts'
import type { AwaitedStream, WaitItem, WaitOptions } from './wait-types.ts'
import { watch } from './watch/watch.ts'

/**
 * Waits until every stream of the selection has ended, as asked for or otherwise. Which streams a filter selects is
 * decided by the first look at which it matches any. Ends then, and when the signal aborts.
 * @throws the store's faults; `StoreUnreachable` only if the store does not answer at the first look
 */
export async function* waitFor(
  store: EventStore,
  selection: Selection,
  target: WaitTarget,
  options: WaitOptions,
): AsyncGenerator<WaitItem> {
  const names = selection.kind === 'filter' ? yield* matching(store, selection, options) : [...new Set(selection.names)]
  if (names === undefined) return
  const awaited = new Awaited(store, target, names, options)
  const outage = new Outage(selection.kind === 'filter')
  for await (const item of watch(store, { kind: 'list', names }, options)) {
    if (item.kind === 'moved') awaited.note(item.streams)
    else if (item.kind === 'gone') awaited.remove(item.names)
    else if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    if (item.kind !== 'looked') continue
    if (item.first && item.missing.length > 0) {
      if (selection.kind !== 'filter' && !options.mayAppear) return yield { kind: 'missing', names: item.missing }
      awaited.remove(item.missing)
    }
    const cause = await awaited.read()
    yield* cause === undefined ? outage.end() : outage.begin(cause)
    yield* awaited.news()
    yield { kind: 'looked', total: names.length, open: awaited.open }
    if (awaited.open.size === 0) return
  }
  yield* awaited.news()
}

/** The names that a filter matches. `undefined` when waiting has ended with that. */
async function* matching(
  store: EventStore,
  selection: Selection,
  options: WaitOptions,
): AsyncGenerator<WaitItem, readonly string[] | undefined> {
  const names: string[] = []
  const outage = new Outage(false)
  for await (const item of watch(store, selection, options)) {
    if (item.kind === 'moved') {
      for (const { listed, fault } of item.streams) {
        const name = ownText(listed.name)
        // What no stream can be called will never end.
        if (fault?.code === 'bad-name') yield { kind: 'unreadable', stream: name, ...fault }
        else names.push(name)
      }
    }
    if (item.kind === 'interrupted') yield* outage.begin(item.cause)
    else if (item.kind === 'looked') {
      if (names.length > 0) return [...new Set(names)]
      if (!options.mayAppear) return yield { kind: 'no-match' }
      yield* outage.end()
      yield { kind: 'looked', total: 0, open: NONE }
    }
  }
  return undefined
}

const NONE: ReadonlyMap<string, AwaitedStream> = new Map()

/** Tells an outage once. A store that does not answer at the first look is more likely a wrong address. */
class Outage {
  #hasAnswered: boolean
  #isOut = false

  constructor(hasAnswered: boolean) {
    this.#hasAnswered = hasAnswered
  }

  *begin(cause: unknown): Generator<WaitItem> {
    if (!this.#hasAnswered) throw cause
    if (!this.#isOut) yield { kind: 'interrupted', cause }
    this.#isOut = true
  }

  *end(): Generator<WaitItem> {
    this.#hasAnswered = true
    if (this.#isOut) yield { kind: 'resumed' }
    this.#isOut = false
  }
}
