// node child-watch-many.ts STREAMS: two sweeps of a watchdog over so many streams, fed from pages of 5 000 as Azure has them
import { openMemoryStore } from '../../src/store/memory.ts'
import type { EventStore, Listed, ListQuery } from '../../src/store/store.ts'
import { EMPTY_DOCUMENT } from '../../src/stream/document.ts'
import { summarize } from '../../src/stream/summarize.ts'
import { machineTiming } from '../../src/watchdog/timing.ts'
import { Watch } from '../../src/watchdog/watch.ts'

const PAGE = 5_000
const HOUR_MS = 3_600_000
const streams = Number(process.argv[2])
const nowMs = Date.now()
const summary = { ...summarize(EMPTY_DOCUMENT, { nowMs, lastBy: 'bench' }), status: 'inprocess', open: 9, version: 4 }

/** Names and ETags are cut out of one text a page, as they are out of an answer of the service. */
function* page(first: number): Generator<readonly [name: string, etag: string]> {
  let text = ''
  for (let n = first; n < Math.min(first + PAGE, streams); n++) {
    text += `orders/2026-11/${String(n).padStart(9, '0')} "0x8DE${n.toString(16).toUpperCase().padStart(12, '0')}"\n`
  }
  for (const line of text.split('\n')) {
    const at = line.indexOf(' ')
    if (at > 0) yield [line.slice(0, at), line.slice(at + 1)]
  }
}

async function* list({ skip }: ListQuery): AsyncGenerator<readonly Listed[]> {
  for (let first = 0; first < streams; first += PAGE) {
    const rows: Listed[] = []
    for (const [name, etag] of page(first)) {
      if (skip?.(name, etag)) continue
      const dueMs = nowMs + HOUR_MS + (first % 1_000) * 1_000
      const lease = { state: 'available' } as const
      rows.push({ name, etag, size: 2_000, modifiedMs: nowMs, lease, summary: { ...summary, dueMs } })
    }
    yield rows
  }
}

const store: EventStore = Object.assign(openMemoryStore(), { list })
const options = {
  intervalMs: 10_000,
  onDue: 'notify',
  maxPerPass: 1_000,
  maxShare: 0.2,
  concurrency: 8,
  by: 'bench',
} as const
const settings = { trustsClock: false, isDryRun: false, timing: machineTiming }
const watch = new Watch(store, { ...options, observers: [] }, settings)
for (let sweep = 0; sweep < 2; sweep++) {
  const report = await watch.pass('sweep', new AbortController().signal)
  if (report.total !== streams) throw new Error(`${report.total} streams`)
}
