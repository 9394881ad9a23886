import type { StreamView } from '../../ops/read-stream.ts'
import type { ShownStream } from './view.ts'

/** What the pictures of a stream are made from. */
export function shownStream({ name, document, stored, stream, time, nowMs }: StreamView): ShownStream {
  return { name, version: document.version, lease: stored.lease, stream, time, nowMs }
}
