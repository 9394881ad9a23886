/**
 * What a listing needs to know of a stream without reading its document. A cache: everything authoritative
 * stands in the document (stream-format 8).
 */
export interface Summary {
  readonly version: number
  readonly born: string
  /** The root's status. */
  readonly status: string
  /** `errors` when something below the root was aborted or canceled. */
  readonly outcome: '' | 'errors'
  /** Who wrote last (`by` of the last transaction). */
  readonly lastBy: string
  /** Name of the root event. */
  readonly root: string
  /** Epoch ms; `undefined` when missing or unreadable. */
  readonly createdMs: number | undefined
  readonly key: string
  readonly topic: string
  readonly tag: string
  readonly trackingId: string
  /** Time, event id and first 200 characters of the last failure. */
  readonly failedAtMs: number | undefined
  readonly failedId: string
  readonly failure: string
  /** Counts of events; superseded ones are not counted. */
  readonly open: number
  readonly failed: number
  readonly total: number
  /** The earliest due time or claim end, epoch ms. */
  readonly dueMs: number | undefined
  /** Ids of the open leaves the stream waits on; a last item `+N` says that N more were cut. */
  readonly waitingOn: readonly string[]
  /** `name|topic` of the `init` events that can be started; percent-encoded parts; a last item `+N` as above. */
  readonly ready: readonly string[]
}
