import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Listed } from '../../store.ts'
import { ServiceError } from '../errors.ts'
import type { BlobHead, BlobReader } from './blob.ts'
import { ListScan } from './xml-scan.ts'

/** Whether a row is to be made of a blob. `isLeased` can be called only meanwhile. */
export type Wanted = (name: string, etag: string, isLeased: () => boolean) => boolean

/** Takes rows of a page that is still arriving. */
export type TakeRows = (rows: Listed[]) => void

/** So many rows are handed over at a time: few enough that what becomes of them is garbage while it is young. */
const HANDFUL = 100

/** Which page is asked for. */
export interface PageRequest {
  readonly prefix?: string | undefined
  /** Only names from this one on. */
  readonly startFrom?: string | undefined
  /** What the page before ended with; then `startFrom` is of no matter. */
  readonly marker?: string | undefined
  /** At most so many blobs. */
  readonly size: number
  readonly signal?: AbortSignal | undefined
}

export interface ListedPage {
  /** Of the blobs that are wanted, as far as they were not handed over. Directories never are wanted. */
  readonly rows: readonly Listed[]
  /** Where the next page begins; `undefined` after the last. */
  readonly marker: string | undefined
  /** The names the page begins and ends with, wanted or not; `undefined` if it has none. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** Whether the names ascend by code units, as they do in accounts without a hierarchical namespace. */
  readonly isSorted: boolean
}

/** Whoever reads pages. */
export interface PageSource {
  /** Blobs on a page, if nothing else is asked for. */
  readonly pageSize: number
  /** Whether names came in ascending order as yet; whoever finds that they do not says so here. */
  isOrdered: boolean
  /**
   * `wanted` is asked of each stream in turn, and only once. With `take` rows are handed over as they arrive, even if
   * the page then does not arrive whole. Throws faults and the signal's reason.
   */
  page(request: PageRequest, wanted: Wanted, take?: TakeRows): Promise<ListedPage>
}

/**
 * A page while it arrives and afterwards. Of a blob that is not wanted only name and ETag are read. A page that did not
 * arrive whole is read again, and goes on behind the last blob it had: whoever is asked may keep count.
 */
export class Page implements ListedPage {
  rows: Listed[] = []
  marker: string | undefined
  first: string | undefined
  last: string | undefined
  isSorted = true
  /** What was thrown by whoever is asked: no fault of the service, so no reason to ask it again. */
  failure: { readonly thrown: unknown } | undefined
  readonly #wanted: Wanted
  readonly #hand: TakeRows | undefined
  readonly #blobs: BlobReader
  #body: Readable | undefined
  /** Whether what arrives is behind what had arrived before. */
  #isBehind = true

  constructor(blobs: BlobReader, wanted: Wanted, hand?: TakeRows) {
    this.#blobs = blobs
    this.#wanted = wanted
    this.#hand = hand
  }

  /**
   * @param arriving called whenever something has arrived
   * @throws ServiceError if the bytes are no listing, or end before it does; what is thrown by whoever is asked
   */
  async read(body: Readable, arriving: () => void): Promise<void> {
    const scan = new ListScan((bytes, from, to) => this.#take(bytes, from, to))
    this.#body = body
    this.#isBehind = this.last === undefined
    let fault: { readonly thrown: unknown } | undefined
    // Not with `for await`, which costs as much again as the scan.
    body.on('data', (chunk: Buffer) => {
      arriving()
      try {
        if (fault === undefined) scan.push(chunk)
      } catch (thrown) {
        fault = { thrown }
        body.destroy()
      }
    })
    await finished(body).catch(thrown => {
      fault ??= { thrown }
    })
    this.#body = undefined
    if (fault !== undefined) throw fault.thrown
    this.marker = scan.end()
    // The last blob that was seen is gone, and where names are in no order only that tells what is behind it.
    if (!this.#isBehind && !this.isSorted) throw new ServiceError('AnswerCutOff')
  }

  /** Ends reading, which then throws; says false if nothing is being read. */
  stop(): boolean {
    this.#body?.destroy()
    return this.#body !== undefined
  }

  #take(bytes: Buffer, from: number, to: number): void {
    const head = this.#blobs.head(bytes, from, to)
    const { name } = head
    if (!this.#isBehind && !this.#comesBehind(name)) return
    if (head.isHierarchical || (this.last !== undefined && name < this.last)) this.isSorted = false
    this.first ??= name
    this.last = name
    if (head.isDirectory || !this.#isWanted(head, () => this.#blobs.isLeased(bytes, head, to))) return
    const row = this.#blobs.row(bytes, head, to)
    if (row !== undefined) this.rows.push(row)
    if (this.#hand === undefined || this.rows.length < HANDFUL) return
    this.#hand(this.rows)
    this.rows = []
  }

  /** Whether the blob is one that has not been seen before the page was cut off. The last that was is the first that is not. */
  #comesBehind(name: string): boolean {
    const { last = '' } = this
    this.#isBehind = name === last || (this.isSorted && name > last)
    return this.#isBehind && name !== last
  }

  #isWanted({ name, etag }: BlobHead, isLeased: () => boolean): boolean {
    try {
      return this.#wanted(name, etag, isLeased)
    } catch (thrown) {
      this.failure = { thrown }
      throw thrown
    }
  }
}
