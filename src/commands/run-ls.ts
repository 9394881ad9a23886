import { summaries } from '../ops/summaries.ts'
import { visibleText } from '../stream/texts.ts'
import { openList } from './list-output.ts'
import type { GlobalOptions } from './options.ts'
import { openOutput } from './output.ts'
import type { Problem } from './problem.ts'
import type { Runtime } from './runtime.ts'
import type { FilterOptions } from './selection/flags.ts'
import { filterOf } from './selection/read-selection.ts'
import { openStoreFor } from './store.ts'

export interface LsOptions extends GlobalOptions, FilterOptions {
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
  for await (const page of summaries(store, filterOf(options, runtime.nowMs()) ?? {}, { signal: runtime.signal })) {
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
