import type { Output } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Picture } from './snapshot.ts'

/** Prints one page of all streams; nothing if none could be read. */
export async function printPage(
  pictures: readonly Picture[],
  unreadable: readonly Problem[],
  store: StreamStore,
  output: Output,
): Promise<void> {
  if (pictures.length === 0) return
  const { streamsPage } = await import('../../formats/html/streams.ts')
  const unread = unreadable.map(({ message }) => message)
  const origin = { store: store.address, nowMs: store.nowMs() }
  await output.text(streamsPage(pictures, unread, origin, { time: output.time }))
}
