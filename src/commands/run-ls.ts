import type { ListedStream } from '../formats/listing.ts'
import { viewOf } from '../ops/read-stream.ts'
import type { EventStore, Listed, ListQuery } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import type { Status } from '../stream/event.ts'
import { summarize } from '../stream/summarize.ts'
import { visibleText } from '../stream/texts.ts'
import { globOf } from './glob.ts'
import { openList } from './list-output.ts'
import type { GlobalOptions } from './options.ts'
import { openOutput } from './output.ts'
import type { Problem } from './problem.ts'
import type { Runtime } from './runtime.ts'
import { openStoreFor } from './store.ts'

export interface LsOptions extends GlobalOptions {
  readonly status?: readonly Status[]
  readonly failed?: boolean
  readonly match?: string
  readonly limit?: number
}

const TERMINAL_LIMIT = 200

/** Lists streams page by page: what is held in memory does not grow with their number. */
export async function listStreams(options: LsOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const list = openList(options.output, output, store)
  const limit =
    options.limit ?? (runtime.stdout.isTty && (options.output ?? 'table') === 'table' ? TERMINAL_LIMIT : undefined)
  let shown = 0
  let truncated = false
  for await (const page of matching(store, options, runtime.signal)) {
    const room = limit === undefined ? page.length : limit - shown
    truncated = page.length > room
    const rows = truncated ? page.slice(0, room) : page
    shown += rows.length
    await list.add(rows)
    if (truncated) break
  }
  await list.end(shown, truncated)
  if (shown === 0) await output.say(`no streams in ${visibleText(store.address)}`)
  if (truncated) await output.say(`the first ${shown}; --limit shows more, --match fewer`)
  return undefined
}

async function* matching(store: EventStore, options: LsOptions, signal: AbortSignal): AsyncGenerator<ListedStream[]> {
  const glob = options.match === undefined ? undefined : globOf(options.match)
  const query: ListQuery = { signal, ...(glob === undefined ? {} : { prefix: glob.prefix }) }
  for await (const page of store.list(query)) {
    const found: ListedStream[] = []
    for (const listed of page) {
      if (glob !== undefined && !glob.matches(listed.name)) continue
      const item =
        listed.summary === undefined
          ? await summarized(store, listed, signal)
          : { listed, summary: listed.summary, fault: undefined }
      if (item !== undefined && wanted(item, options)) found.push(item)
    }
    if (found.length > 0) yield found
  }
}

/** Somebody else wrote: the summary is gone or stale, so the document is read. A bad one is shown, not thrown. */
async function summarized(store: EventStore, listed: Listed, signal: AbortSignal): Promise<ListedStream | undefined> {
  try {
    const stored = await store.read(listed.name, signal)
    if (stored === undefined) return undefined
    const nowMs = store.nowMs()
    const { document } = viewOf(stored, nowMs)
    const summary =
      document.events.length === 0
        ? undefined
        : summarize(document, { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: '' })
    return { listed: stored, summary, fault: undefined }
  } catch (error) {
    if (!(error instanceof LeasectlError) || error.code !== 'bad-document') throw error
    return { listed, summary: undefined, fault: { code: error.code, message: error.message } }
  }
}

function wanted({ summary }: ListedStream, { status, failed }: LsOptions): boolean {
  if (status !== undefined && !status.some(word => word === summary?.status)) return false
  return !failed || (summary?.failed ?? 0) > 0
}
