import type { InboxView, UnreadableInbox } from '../../inbox/view.ts'
import type { InboxSeen } from '../../ops/check/inboxes.ts'
import { hasSystemDocument, INBOXES } from '../../ops/read-system-document.ts'
import type { StreamStore } from '../../store/store.ts'

/** Bytes of a partition that are read to count what waits. */
const COUNTED_BYTES = 256 * 1024

/** The inboxes of a store, for `check` and `doctor`. @throws the store's faults */
export async function inboxesSeen(store: StreamStore, signal: AbortSignal): Promise<readonly InboxSeen[]> {
  if (!(await hasSystemDocument(store, INBOXES, signal))) return []
  const { viewInboxes } = await import('../../inbox/view.ts')
  const seen: InboxSeen[] = []
  for await (const view of viewInboxes(store, { countedBytes: COUNTED_BYTES, signal }))
    seen.push(seenOf(view, store.nowMs()))
  return seen
}

function seenOf(view: InboxView | UnreadableInbox, nowMs: number): InboxSeen {
  const { name } = view
  if (view.kind === 'unreadable') {
    const nothing = { partitions: 0, owned: 0, idle: 0, records: 0, isEstimate: false, ageMs: undefined, dead: 0 }
    return { name, ...nothing, rate: { in: 0, out: 0 }, error: `it cannot be read: ${view.why}` }
  }
  const { inbox, partitions, owned, lag, rate, deadLetters, faults } = view
  const { records, isEstimate, oldestMs } = lag
  return {
    name,
    partitions: inbox.partitions,
    owned,
    idle: partitions.filter(one => one.checkpoint.owner === undefined && one.lag.records > 0).length,
    records,
    isEstimate,
    ageMs: oldestMs === undefined ? undefined : Math.max(0, nowMs - oldestMs),
    dead: deadLetters.open,
    rate,
    ...(faults.length === 0 ? {} : { error: faults.join('; ') }),
  }
}
