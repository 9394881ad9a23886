import type { BlobItem, ContainerClient, ContainerListBlobsOptions, RequestPolicyFactory } from '@azure/storage-blob'
import type { AzureCalls } from './azure-calls.ts'
import type { AzureContainer } from './azure-client.ts'
import { type ListedBlob, type ListingPage, scanListing } from './azure-list-scan.ts'
import { leaseView, readSummary } from './azure-metadata.ts'
import { compareNames, isReservedName } from './names.ts'
import type { Listed, ListQuery } from './store.ts'

/** The service's limit for one page. */
const PAGE = 5_000

/**
 * The streams of a container, page by page; a page is asked for when the one before was taken. With `order: 'due'` the
 * rows that have a due time are collected first: at a limit of n never more than n and a page of them, without one all.
 */
export async function* listStreams(
  container: AzureContainer,
  calls: AzureCalls,
  query: ListQuery,
): AsyncGenerator<readonly Listed[]> {
  query.signal?.throwIfAborted()
  if (query.limit !== undefined && query.limit <= 0) return
  if (query.order === 'due') yield* byDue(container, calls, query)
  else yield* byName(container, calls, query)
}

async function* byName(
  container: AzureContainer,
  calls: AzureCalls,
  query: ListQuery,
): AsyncGenerator<readonly Listed[]> {
  let left = query.limit ?? Number.POSITIVE_INFINITY
  for await (const page of pages(container, calls, query)) {
    const rows = page.slice(0, left)
    left -= rows.length
    if (rows.length > 0) yield rows
    if (left <= 0) return
  }
}

async function* byDue(
  container: AzureContainer,
  calls: AzureCalls,
  query: ListQuery,
): AsyncGenerator<readonly Listed[]> {
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  let soonest: Listed[] = []
  for await (const page of pages(container, calls, query)) {
    for (const row of page) if (row.summary?.dueMs !== undefined) soonest.push(row)
    if (soonest.length > limit) soonest = soonest.sort(compareDue).slice(0, limit)
  }
  soonest.sort(compareDue)
  for (let at = 0; at < soonest.length; at += PAGE) yield soonest.slice(at, at + PAGE)
}

function compareDue(a: Listed, b: Listed): number {
  return (a.summary?.dueMs ?? 0) - (b.summary?.dueMs ?? 0) || compareNames(a.name, b.name)
}

async function* pages(container: AzureContainer, calls: AzureCalls, query: ListQuery): AsyncGenerator<Listed[]> {
  const { prefix, after, skip } = query
  const listing = captureListing(container)
  let marker: string | undefined
  do {
    const page: ListingPage = await fetchPage(listing.client, listing.take, calls, query, marker)
    const rows: Listed[] = []
    for (const blob of page.blobs) {
      if (isReservedName(blob.name) || (after !== undefined && compareNames(blob.name, after) <= 0)) continue
      if (prefix !== undefined && !blob.name.startsWith(prefix)) continue
      if (skip?.(blob.name, etagOf(blob)) !== true) rows.push(listed(blob))
    }
    yield rows
    marker = page.marker
  } while (marker !== undefined)
}

async function fetchPage(
  client: ContainerClient,
  take: (parsed: () => ListingPage) => ListingPage,
  calls: AzureCalls,
  { prefix, after, limit, order, signal }: ListQuery,
  continuationToken: string | undefined,
): Promise<ListingPage> {
  // Reserved names and the one `startFrom` includes may fill places of a small page.
  const maxPageSize = order === 'due' ? PAGE : Math.min(PAGE, (limit ?? PAGE) + 10)
  const answer = await calls.repeated(
    async abortSignal => {
      const options: ContainerListBlobsOptions = {
        includeMetadata: true,
        abortSignal,
        ...(prefix ? { prefix } : {}),
        ...(after !== undefined && continuationToken === undefined ? { startFrom: after } : {}),
      }
      const settings = { maxPageSize, ...(continuationToken === undefined ? {} : { continuationToken }) }
      const { value, done } = await client.listBlobsFlat(options).byPage(settings).next()
      if (done || value === undefined) return { blobs: [], marker: undefined }
      return {
        ...take(() => ({ blobs: value.segment.blobItems.map(fromSdk), marker: value.continuationToken || undefined })),
        date: value.date,
      }
    },
    { limitMs: calls.limits.pageMs, signal },
  )
  if (answer.kind === 'done') return answer.value
  throw calls.fault(answer.error)
}

/**
 * A client whose list answers are scanned before the SDK's XML parser sees them: parsing a page of 5 000 blobs costs it
 * about 600 ms of CPU, the scan some 20. `take` returns the scanned page, or what the SDK parsed if the scan did not
 * come to see the answer.
 */
function captureListing(container: AzureContainer): {
  client: ContainerClient
  take: (parsed: () => ListingPage) => ListingPage
} {
  let scanned: ListingPage | undefined
  const factory: RequestPolicyFactory = {
    create: next => ({
      async sendRequest(request) {
        const response = await next.sendRequest(request)
        scanned = response.status === 200 ? scanListing(response.bodyAsText ?? '') : undefined
        if (scanned !== undefined) response.bodyAsText = EMPTY_LISTING
        return response
      },
    }),
  }
  // The SDK puts a factory of this name between its retries and its parser, any other behind the parser.
  Object.defineProperty(factory, 'constructor', { value: { name: 'InjectorPolicyFactory' } })
  const client = container.withPipeline(pipeline => pipeline.factories.unshift(factory))
  return { client, take: parsed => scanned ?? parsed() }
}

const EMPTY_LISTING =
  '<?xml version="1.0" encoding="utf-8"?><EnumerationResults><Blobs /><NextMarker /></EnumerationResults>'

function fromSdk(item: BlobItem): ListedBlob {
  const { etag, contentLength = 0, lastModified, contentMD5, leaseState, leaseDuration } = item.properties
  return {
    name: item.name,
    etag,
    size: contentLength,
    modifiedMs: lastModified.getTime(),
    md5: contentMD5 === undefined ? undefined : Buffer.from(contentMD5).toString('hex'),
    leaseState,
    leaseDuration,
    metadata: item.metadata ?? {},
  }
}

function listed(blob: ListedBlob): Listed {
  const { summary } = readSummary(blob.metadata, blob)
  return {
    name: blob.name,
    etag: etagOf(blob),
    size: blob.size,
    modifiedMs: blob.modifiedMs,
    lease: leaseView(blob.leaseState, blob.leaseDuration, blob.metadata),
    ...(summary === undefined ? {} : { summary }),
  }
}

/** Headers have it in quotes, listings of the service do not. */
function etagOf({ etag }: ListedBlob): string {
  return etag.startsWith('"') ? etag : `"${etag}"`
}
