import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { ContainerClient, RequestPolicyFactory } from '@azure/storage-blob'
import type { StreamRow } from '../../store.ts'
import type { AzureContainer } from '../client.ts'
import { ServiceError } from '../errors.ts'
import type { AzureRequests } from '../requests.ts'
import { type BlobHead, headOf, isLeased, rowOf } from './blob.ts'
import { ListScan } from './xml-scan.ts'

/** Whether a row is to be made of a blob. `isLeased` can be called only meanwhile. */
export type RowFilter = (name: string, etag: string, isLeased: () => boolean) => boolean

/** Takes rows of a page that is still arriving. */
export type TakeRows = (rows: StreamRow[]) => void

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
  readonly rows: readonly StreamRow[]
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
  page(request: PageRequest, wanted: RowFilter, take?: TakeRows): Promise<ListedPage>
}

/**
 * A page while it arrives and afterwards. Of a blob that is not wanted only name and ETag are read. A page that did not
 * arrive whole is read again, and goes on behind the last blob it had: whoever is asked may keep count.
 */
class Page implements ListedPage {
  rows: StreamRow[] = []
  marker: string | undefined
  first: string | undefined
  last: string | undefined
  isSorted = true
  /** What was thrown by whoever is asked: no fault of the service, so no reason to ask it again. */
  failure: { readonly thrown: unknown } | undefined
  readonly #wanted: RowFilter
  readonly #hand: TakeRows | undefined
  #body: Readable | undefined
  /** Whether what arrives is behind what had arrived before. */
  #isBehind = true

  constructor(wanted: RowFilter, hand?: TakeRows) {
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
    const head = headOf(bytes, from, to)
    const { name } = head
    if (!this.#isBehind && !this.#comesBehind(name)) return
    if (head.isHierarchical || (this.last !== undefined && name < this.last)) this.isSorted = false
    this.first ??= name
    this.last = name
    if (head.isDirectory || !this.#isWanted(head, () => isLeased(head))) return
    const row = rowOf(bytes, head, to)
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

/** The most blobs the service puts on a page. */
const MAX_PAGE = 5_000

/** Pages that are read at a time share a line: one may take as many times its limit, as long as it goes on arriving. */
const LINE_SHARED_BY = 4

type Policy = ReturnType<RequestPolicyFactory['create']>
type PolicyRequest = Parameters<Policy['sendRequest']>[0]

/** What the parser of the SDK gets to see in place of a page. */
const EMPTY_LISTING =
  '<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs /><NextMarker /></EnumerationResults>'

/**
 * Reads pages of a container's listing. The SDK makes the request, signs and sends it and judges the status; the body of
 * an answer is taken from it as a stream and scanned as it arrives, so that its XML parser never sees it: parsing a page
 * costs that twenty times as much processor time as all that is done here.
 *
 * Not by `responseFormat: Arrow`, which the SDK offers: it reads such a page in about four times the time the scan of the
 * XML takes, and as not every account answers Arrow and the emulator never does, the XML would have to be read as well.
 */
export class AzureListReader implements PageSource {
  readonly pageSize: number
  isOrdered = true
  readonly #client: ContainerClient
  readonly #calls: AzureRequests
  /** Pages under way by the signals of their requests: the one thing of ours that the SDK hands through to a policy. */
  readonly #pages = new WeakMap<object, { readonly page: Page; readonly silence: NodeJS.Timeout }>()

  /** @param pageSize smaller in tests */
  constructor(container: AzureContainer, calls: AzureRequests, pageSize = MAX_PAGE) {
    this.pageSize = pageSize
    const factory: RequestPolicyFactory = {
      create: next => ({ sendRequest: request => this.#takeBody(next, request) }),
    }
    // The SDK puts a factory of this name between its retries and its parser, any other behind the parser.
    Object.defineProperty(factory, 'constructor', { value: { name: 'InjectorPolicyFactory' } })
    this.#client = container.withPipeline(pipeline => pipeline.factories.unshift(factory))
    this.#calls = calls
  }

  /** One page, asked for again when its answer does not come, or not whole. */
  async page(request: PageRequest, wanted: RowFilter, take?: TakeRows): Promise<ListedPage> {
    const page = new Page(wanted, take)
    const answer = await this.#calls.sendWithRetry(tried => this.#fetch(request, page, tried), {
      limitMs: LINE_SHARED_BY * this.#calls.limits.pageMs,
      signal: request.signal,
    })
    if (page.failure !== undefined) throw page.failure.thrown
    if (answer.kind === 'done') return page
    throw this.#calls.fault(answer.error)
  }

  async #fetch({ prefix, startFrom, marker, size }: PageRequest, page: Page, tried: AbortSignal) {
    const sending = new AbortController()
    // Aborted while the body arrives, the SDK would destroy the socket with an error, of which Node ends the process if the
    // last byte is there already: so from then on the body is closed.
    const stop = (): void => {
      if (!page.stop()) sending.abort()
    }
    let isSilent = false
    const silence = setTimeout(() => {
      isSilent = true
      stop()
    }, this.#calls.limits.pageMs)
    tried.addEventListener('abort', stop)
    this.#pages.set(sending.signal, { page, silence })
    const options = {
      includeMetadata: true,
      abortSignal: sending.signal,
      ...(prefix ? { prefix } : {}),
      ...(startFrom && marker === undefined ? { startFrom } : {}),
    }
    const settings = { maxPageSize: size, ...(marker === undefined ? {} : { continuationToken: marker }) }
    try {
      const { value } = await this.#client.listBlobsFlat(options).byPage(settings).next()
      return { date: value?.date as unknown }
    } catch (error) {
      if (page.failure === undefined) throw isSilent ? new ServiceError('TimedOut') : error
      return { date: undefined }
    } finally {
      clearTimeout(silence)
      tried.removeEventListener('abort', stop)
    }
  }

  async #takeBody(next: Policy, request: PolicyRequest): ReturnType<Policy['sendRequest']> {
    const reading = this.#pages.get(request.abortSignal ?? this)
    if (reading === undefined) throw new TypeError('a request that is for no page')
    request.streamResponseStatusCodes = new Set([200])
    const response = await next.sendRequest(request)
    if (response.status !== 200 || response.readableStreamBody === undefined) return response
    await reading.page.read(response.readableStreamBody as Readable, () => reading.silence.refresh())
    // What the SDK would do next with a stream is to hand it out.
    request.streamResponseStatusCodes = new Set()
    response.bodyAsText = EMPTY_LISTING
    return response
  }
}
