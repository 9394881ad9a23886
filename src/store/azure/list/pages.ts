import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { StreamRow } from '../../store.ts'
import type { AzureContainer } from '../client.ts'
import { ServiceError } from '../errors.ts'
import { type PlainContainerClient, withQuery } from '../plain-requests.ts'
import type { AzureRequests } from '../requests.ts'
import { type BlobHead, headOf, isLeased, rowOf } from './blob.ts'
import { ListScan } from './xml-scan.ts'

/** Whether a row is built for a blob. `isLeased` can be called only during the call. */
export type RowFilter = (name: string, etag: string, isLeased: () => boolean) => boolean

/** Consumes rows of a page that is still arriving. */
export type TakeRows = (rows: StreamRow[]) => void

/** Number of rows passed on at a time: few enough that they are collected as young garbage. */
const BATCH_ROWS = 100

/** A request for one page. */
export interface PageRequest {
  readonly prefix?: string | undefined
  /** Only names from this one on, inclusive. */
  readonly startFrom?: string | undefined
  /** Continuation marker from the previous page; `startFrom` is then ignored. */
  readonly marker?: string | undefined
  /** Maximum number of blobs. */
  readonly size: number
  readonly signal?: AbortSignal | undefined
}

export interface ListedPage {
  /** Rows that pass the filter and were not passed on already, without directories. */
  readonly rows: readonly StreamRow[]
  /** Continuation marker for the next page; `undefined` on the last. */
  readonly marker: string | undefined
  /** First and last name on the page, before the filter; `undefined` on an empty page. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** Whether the names ascend by code units, as they do in accounts without a hierarchical namespace. */
  readonly isSorted: boolean
}

/** A source of listing pages. */
export interface PageSource {
  /** Default number of blobs on a page. */
  readonly pageSize: number
  /** Whether all names so far were in ascending order. A reader that finds otherwise sets it to false. */
  isOrdered: boolean
  /**
   * Reads one page. `wanted` is called once per stream, in order. With `take` rows are passed on as they arrive, even if the rest
   * of the page fails. Throws faults and the signal's reason.
   */
  page(request: PageRequest, wanted: RowFilter, take?: TakeRows): Promise<ListedPage>
}

/**
 * A page during and after its arrival. Of a blob that is filtered out only name and ETag are read. An incomplete page is read
 * again and continues after the last blob that it had, so that the filter is called once per blob.
 */
class Page implements ListedPage {
  rows: StreamRow[] = []
  marker: string | undefined
  first: string | undefined
  last: string | undefined
  isSorted = true
  /** An error of the filter: not a fault of the service, so the request is not repeated. */
  failure: { readonly thrown: unknown } | undefined
  readonly #wanted: RowFilter
  readonly #passOn: TakeRows | undefined
  #body: Readable | undefined
  /** Whether the arriving blobs are new, that is after those of an earlier attempt. */
  #isNew = true

  constructor(wanted: RowFilter, passOn?: TakeRows) {
    this.#wanted = wanted
    this.#passOn = passOn
  }

  /**
   * @param arriving called for every chunk
   * @throws ServiceError if the bytes are not a listing, or end early; errors of the filter
   */
  async read(body: Readable, arriving: () => void): Promise<void> {
    const scan = new ListScan((bytes, from, to) => this.#take(bytes, from, to))
    this.#body = body
    this.#isNew = this.last === undefined
    let fault: { readonly thrown: unknown } | undefined
    // Not with `for await`, which would double the cost of the scan.
    body.on('data', (chunk: Buffer) => {
      arriving()
      try {
        if (fault === undefined) scan.push(chunk)
        release(chunk)
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
    // The last known blob is gone. In an unsorted listing, only that blob would show where new ones begin.
    if (!this.#isNew && !this.isSorted) throw new ServiceError('AnswerCutOff')
  }

  /** Ends the read, which then throws; false if there is none. */
  stop(): boolean {
    this.#body?.destroy()
    return this.#body !== undefined
  }

  #take(bytes: Buffer, from: number, to: number): void {
    const head = headOf(bytes, from, to)
    const { name } = head
    if (!this.#isNew && !this.#becomesNew(name)) return
    if (head.isHierarchical || (this.last !== undefined && name < this.last)) this.isSorted = false
    this.first ??= name
    this.last = name
    if (head.isDirectory || !this.#isWanted(head, () => isLeased(head))) return
    const row = rowOf(bytes, head, to)
    if (row !== undefined) this.rows.push(row)
    if (this.#passOn === undefined || this.rows.length < BATCH_ROWS) return
    this.#passOn(this.rows)
    this.rows = []
  }

  /** Whether the blob is new after an incomplete attempt. The last known blob is not, but all after it are. */
  #becomesNew(name: string): boolean {
    const { last = '' } = this
    this.#isNew = name === last || (this.isSorted && name > last)
    return this.#isNew && name !== last
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

/**
 * Gives back the memory of a chunk, of which the scan keeps a copy: a listing without changes makes so little other garbage
 * that a hundred megabytes of chunks would gather before the next collection.
 */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The service's maximum number of blobs on a page. */
const MAX_PAGE = 5_000

/** Number of pages read at the same time, which share the bandwidth: a page may take this many times its timeout while data arrives. */
const CONCURRENT_PAGES = 4

/**
 * Reads pages of a container's listing. The body of the answer is scanned as it arrives: the SDK's XML parser takes twenty times
 * as much CPU time.
 *
 * `responseFormat: Arrow` of the SDK is not used: it takes about four times as long as the scan of the XML. And not every account
 * answers Arrow, and the emulator never does, so the XML would have to be read as well.
 */
export class AzureListReader implements PageSource {
  readonly pageSize: number
  isOrdered = true
  readonly #client: PlainContainerClient
  readonly #calls: AzureRequests

  /** @param pageSize smaller in tests */
  constructor({ client }: AzureContainer, calls: AzureRequests, pageSize = MAX_PAGE) {
    this.pageSize = pageSize
    this.#client = client
    this.#calls = calls
  }

  /** One page; the request is repeated if its answer does not come, or is incomplete. */
  async page(request: PageRequest, wanted: RowFilter, take?: TakeRows): Promise<ListedPage> {
    const page = new Page(wanted, take)
    const answer = await this.#calls.sendWithRetry(abortSignal => this.#fetch(request, page, abortSignal), {
      limitMs: CONCURRENT_PAGES * this.#calls.limits.pageMs,
      signal: request.signal,
    })
    if (page.failure !== undefined) throw page.failure.thrown
    if (answer.kind === 'done') return page
    throw this.#calls.fault(answer.error)
  }

  async #fetch({ prefix, startFrom, marker, size }: PageRequest, page: Page, abortSignal: AbortSignal) {
    const sending = new AbortController()
    // If aborted while the body arrives, the pipeline would destroy the socket with an error, which ends the Node process if the
    // last byte has arrived already. So from then on the body is closed instead.
    const stop = (): void => {
      if (!page.stop()) sending.abort()
    }
    let hasTimedOut = false
    const timer = setTimeout(() => {
      hasTimedOut = true
      stop()
    }, this.#calls.limits.pageMs)
    abortSignal.addEventListener('abort', stop)
    const query = queryOf({
      ...{ restype: 'container', comp: 'list', include: 'metadata', maxresults: String(size) },
      ...{ prefix, marker, startFrom: marker === undefined ? startFrom : undefined },
    })
    const request = { method: 'GET', url: withQuery(this.#client.url, query), headers: {}, expected: 200 } as const
    try {
      const answer = await this.#client.send({ ...request, abortSignal: sending.signal })
      await page.read(answer.body ?? Readable.from([]), () => timer.refresh())
      return { date: answer.date('date') }
    } catch (error) {
      if (page.failure === undefined) throw hasTimedOut ? new ServiceError('TimedOut') : error
      return { date: undefined }
    } finally {
      clearTimeout(timer)
      abortSignal.removeEventListener('abort', stop)
    }
  }
}

/** Empty parameters are left out. */
function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .flatMap(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : []))
    .join('&')
}
