import type { Readable } from 'node:stream'
import type { ContainerClient, RequestPolicyFactory } from '@azure/storage-blob'
import type { AzureContainer } from '../client.ts'
import { ServiceError } from '../errors.ts'
import type { AzureCalls } from '../requests.ts'
import { BlobReader } from './blob.ts'
import { type ListedPage, Page, type PageRequest, type PageSource, type TakeRows, type Wanted } from './pages.ts'

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
  readonly #calls: AzureCalls
  readonly #blobs = new BlobReader()
  /** Pages under way by the signals of their requests: the one thing of ours that the SDK hands through to a policy. */
  readonly #pages = new WeakMap<object, { readonly page: Page; readonly silence: NodeJS.Timeout }>()

  /** @param pageSize smaller in tests */
  constructor(container: AzureContainer, calls: AzureCalls, pageSize = MAX_PAGE) {
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
  async page(request: PageRequest, wanted: Wanted, take?: TakeRows): Promise<ListedPage> {
    const page = new Page(this.#blobs, wanted, take)
    const answer = await this.#calls.repeated(tried => this.#fetch(request, page, tried), {
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
