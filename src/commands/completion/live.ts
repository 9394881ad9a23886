import type { Runtime, StoreChoice } from '../../cli/runtime.ts'
import { readStream } from '../../ops/read-stream.ts'
import type { EventStore, Listed, ListQuery } from '../../store/store.ts'
import type { Candidate } from './candidate.ts'

/** The store that the line means. */
export interface LiveStore {
  readonly choice: StoreChoice
  readonly runtime: Runtime
}

/** With the start of the process it is less than a second in which the shell stands still. */
const PATIENCE_MS = 550
/** As many as one looks through. */
const MOST_NAMES = 200

/** Names of streams that begin so, at most a page of them. Silent where the store does not answer in time. */
export function streamNames(start: string, where: LiveStore): Promise<readonly Candidate[]> {
  return asked(where, async (store, signal) => {
    const page = await names(store, { prefix: start, limit: MOST_NAMES, signal })
    const shared = page.length < MOST_NAMES ? start : commonStart(page.map(({ name }) => name))
    // the shell fills in what all candidates begin with: a page of a longer list must not make it believe that all do
    const beyond =
      shared === start ? [] : await names(store, { prefix: start, after: `${shared}\ufffd`, limit: 1, signal })
    return [...page, ...beyond].map(({ name, summary }) => ({ text: name, ...(summary && { what: summary.status }) }))
  })
}

/** Ids of a stream's events. */
export function eventIds(stream: string | undefined, where: LiveStore): Promise<readonly Candidate[]> {
  if (stream === undefined) return Promise.resolve([])
  return asked(where, async (store, signal) => {
    const view = await readStream(store, stream, signal)
    return (view?.stream.events ?? []).map(({ id, name, status }) => ({ text: id, what: `${name} ${status}` }))
  })
}

async function names(store: EventStore, query: ListQuery): Promise<readonly Listed[]> {
  for await (const page of store.list(query)) return page
  return []
}

function commonStart(texts: readonly string[]): string {
  const first = texts[0] ?? ''
  let end = first.length
  for (const text of texts) while (!text.startsWith(first.slice(0, end))) end--
  return first.slice(0, end)
}

/** Asks the store without a sign-in; whatever goes wrong, or takes too long, there are no candidates. */
async function asked(
  { choice, runtime }: LiveStore,
  ask: (store: EventStore, signal: AbortSignal) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const patience = new AbortController()
  const { promise: tooLate, resolve } = Promise.withResolvers<readonly Candidate[]>()
  const timer = setTimeout(() => {
    resolve([])
    patience.abort()
  }, PATIENCE_MS)
  const answer = runtime
    .openStore(choice, { signIn: false })
    .then(({ store }) => ask(store, patience.signal))
    .catch(() => [])
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
