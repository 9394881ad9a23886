import type { StreamView } from '../../../ops/read-stream.ts'
import type { Activity } from '../types.ts'

/** So many activities are kept. */
const ACTIVITIES_KEPT = 1_000

/** How far the journal of a stream was read. */
export interface Bookmark {
  readonly born: string
  readonly version: number
}

/** Nothing of it was read. */
const NO_BOOKMARK: Bookmark = { born: '', version: 0 }

/** What a stream's journal tells behind the bookmark, oldest first: not more than is kept of all streams together. */
export function newsOf(view: StreamView, { born, version }: Bookmark = NO_BOOKMARK): readonly Activity[] {
  const { name, document, stored } = view
  const from = document.born === born ? version : 0
  return view
    .transactions()
    .filter(tx => tx.provisional || tx.version > from)
    .slice(-ACTIVITIES_KEPT)
    .map(tx => ({
      // What nobody has recorded yet has the number of what was recorded last.
      key: `${name}@${tx.version}${tx.provisional ? '+' : ''}`,
      stream: name,
      atMs: view.time(tx.at) ?? stored.modifiedMs,
      tx,
    }))
}

/**
 * The latest of both, the latest first. A foreign write that nobody has recorded is news only until its stream is read again.
 *
 * @param read the streams that were read since
 */
export function withNews(
  before: readonly Activity[],
  news: readonly Activity[],
  read: ReadonlySet<string>,
): readonly Activity[] {
  const old = before.filter(({ stream, tx }) => !tx.provisional || !read.has(stream))
  if (news.length === 0 && old.length === before.length) return before
  const byKey = new Map<string, Activity>()
  for (const item of [...old].reverse()) byKey.set(item.key, item)
  for (const item of news) {
    byKey.delete(item.key)
    byKey.set(item.key, item)
  }
  // What happened at the same time stays in the order in which it was found.
  return [...byKey.values()]
    .reverse()
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, ACTIVITIES_KEPT)
}
