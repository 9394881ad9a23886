import type { Readable } from 'node:stream'
import type { BlobHTTPHeaders, BlockBlobClient } from '@azure/storage-blob'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import type { Summary } from '../../stream/summary.ts'
import { defined } from '../../util/defined.ts'
import { firstBytes } from '../../util/first-bytes.ts'
import { checkReadableName, checkStoredName, isReservedName, isStoredName } from '../names.ts'
import type { CreateOutcome, LeaseView, StreamRow, StreamSnapshot } from '../store.ts'
import type { AzureContainer } from './client.ts'
import { isBlobMissing, isConflict, isHeldByAnother, isLeaseGone, ServiceError } from './errors.ts'
import {
  foreignMetadata,
  leaseHash,
  leaseView,
  type Metadata,
  md5Of,
  readHolder,
  readSummary,
  writeMetadata,
} from './metadata.ts'
import type { PlainAnswer, PlainContainerClient } from './plain-requests.ts'
import type { Answer, AzureRequests } from './requests.ts'

/** A blob as read, with the parts that a later write must send again. */
export interface BlobState {
  readonly stored: StreamSnapshot
  /** Lower-case hex, computed from the bytes. */
  readonly md5: string
  readonly metadata: Metadata
  readonly headers: BlobHTTPHeaders
}

/** Parameters of one write of a body. */
export interface Write {
  readonly body: Uint8Array
  readonly summary: Summary
  /** The state that the write replaces; its foreign metadata, content headers and holder are kept. */
  readonly base?: BlobState
  readonly leaseId?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** End of the attempt at the latest, monotonic ms. */
  readonly untilMs?: number
}

/** The parts sent with a body; the next write needs some of them again. */
export type PutParts = Omit<BlobState, 'stored'>

const KEPT_CLIENTS = 256

/** Reads and writes whole bodies. */
export class BlobIO {
  readonly #container: AzureContainer
  readonly #calls: AzureRequests
  /** Cached, because a change uses its client four times and creating one is not free. */
  readonly #clients = new Map<string, BlockBlobClient>()
  #versioning: boolean | undefined

  constructor(container: AzureContainer, calls: AzureRequests) {
    this.#container = container
    this.#calls = calls
  }

  /** Whether the container has blob versioning, according to the answer to the last write. */
  get versioning(): boolean | undefined {
    return this.#versioning
  }

  /** The client of a stream's blob. @throws BadName if the name is not valid for a stream */
  blob(name: string): BlockBlobClient {
    checkReadableName(name)
    return this.anyBlob(name)
  }

  /** The client of any blob. @throws BadName if no URL can address it */
  anyBlob(name: string): BlockBlobClient {
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    const client = isStoredName(name) ? this.#container.client.getBlockBlobClient(name) : this.#container.oddBlob(name)
    if (this.#clients.size >= KEPT_CLIENTS) this.#clients.clear()
    this.#clients.set(name, client)
    return client
  }

  /** One GET, repeated while unanswered; `undefined` if the blob does not exist. Throws faults. */
  async read(name: string, signal?: AbortSignal, untilMs?: number): Promise<BlobState | undefined> {
    const answer = await this.#get(name, { signal, untilMs })
    if (answer.kind === 'done') return answer.value
    if (isBlobMissing(answer.error)) return undefined
    throw this.#calls.fault(answer.error, name)
  }

  /** A read on the condition that this lease is the blob's. Throws faults. */
  async readLeased(
    name: string,
    leaseId: string,
    signal?: AbortSignal,
  ): Promise<{ kind: 'read'; state: BlobState } | { kind: 'missing' } | { kind: 'lost'; code: string }> {
    const answer = await this.#get(name, { signal, leaseId })
    if (answer.kind === 'done') return { kind: 'read', state: answer.value }
    if (isBlobMissing(answer.error)) return { kind: 'missing' }
    if (isLeaseGone(answer.error)) return { kind: 'lost', code: answer.error.code }
    throw this.#calls.fault(answer.error, name)
  }

  #get(
    name: string,
    { signal, untilMs, leaseId }: { signal?: AbortSignal | undefined; untilMs?: number | undefined; leaseId?: string },
  ): Promise<Answer<BlobState>> {
    const blob = this.blob(name)
    let doubted: string | undefined
    return this.#calls.sendWithRetry(
      async abortSignal => {
        const state = await download(this.#container.client, blob.url, name, abortSignal, leaseId)
        // A Content-MD5 set by a client (Put Block List does not check it) may be wrong: two equal reads are accepted.
        const { contentMD5 } = state
        if (contentMD5 !== undefined && contentMD5 !== state.md5 && doubted !== state.md5) {
          doubted = state.md5
          throw new ServiceError('Md5Mismatch')
        }
        return state
      },
      { limitMs: this.#bodyLimitMs(name), untilMs, signal },
    )
  }

  /** Data beside a document has twice the size of the largest document. */
  #bodyLimitMs(name: string): number {
    return this.#calls.limits.bodyMs * (isReservedName(name) ? 2 : 1)
  }

  /** The row of one blob, as in a listing; `undefined` if the blob does not exist. Throws faults. */
  async head(name: string, signal?: AbortSignal): Promise<(StreamRow & { metadata: Metadata }) | undefined> {
    const blob = this.anyBlob(name)
    const answer = await this.#calls.sendWithRetry(
      async abortSignal => {
        const found = await this.#container.client.send({
          method: 'HEAD',
          url: blob.url,
          headers: {},
          abortSignal,
          expected: 200,
        })
        return { found, date: found.date('date') }
      },
      { limitMs: this.#calls.limits.leaseMs, signal },
    )
    if (answer.kind !== 'done') {
      if (isBlobMissing(answer.error)) return undefined
      throw this.#calls.fault(answer.error, name)
    }
    const { found } = answer.value
    const metadata = metadataIn(found)
    const mark = { md5: hexOf(found.header('content-md5')), size: Number(found.header('content-length') ?? 0) }
    const { summary } = readSummary(metadata, mark)
    return {
      name,
      etag: found.header('etag') ?? '',
      size: mark.size,
      modifiedMs: found.date('last-modified')?.getTime() ?? 0,
      lease: leaseIn(found, metadata),
      ...defined({ summary }),
      metadata,
    }
  }

  /** One Put, one attempt: body, metadata, content headers, conditions and lease id are applied together or not at all. */
  async put(name: string, write: Write): Promise<Answer<{ etag: string; modifiedMs: number }> & PutParts> {
    const { body, base, leaseId } = write
    const digest = md5Of(body)
    const md5 = digest.toString('hex')
    const metadata = metadataOf(write, md5)
    const headers = base?.headers ?? { blobContentType: 'application/xml' }
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const request = {
      method: 'PUT',
      url: this.blob(name).url,
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': String(bytes.length),
        'content-md5': digest.toString('base64'),
        'x-ms-blob-type': 'BlockBlob',
        ...(base === undefined ? { 'if-none-match': '*' } : { 'if-match': base.stored.etag, 'x-ms-lease-id': leaseId }),
        ...contentHeaders(headers),
        ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [META + key, value])),
      },
      body: bytes,
      expected: 201,
    } as const
    const answer = await this.#calls.send(
      async abortSignal => {
        const put = await this.#container.client.send({ ...request, abortSignal })
        this.#versioning = put.header('x-ms-version-id') !== undefined
        return {
          etag: put.header('etag') ?? '',
          date: put.date('date'),
          modifiedMs: put.date('last-modified')?.getTime() ?? 0,
        }
      },
      { limitMs: this.#bodyLimitMs(name), untilMs: write.untilMs, signal: write.signal },
    )
    return { ...answer, md5, metadata, headers }
  }
}

function metadataOf({ body, summary, base, leaseId }: Write, md5: string): Record<string, string> {
  const foreign = foreignMetadata(base?.metadata ?? {})
  const recorded = base === undefined || leaseId === undefined ? undefined : readHolder(base.metadata)
  const holder =
    recorded !== undefined && leaseId !== undefined && recorded.leaseHash === leaseHash(leaseId) ? recorded : undefined
  return writeMetadata({ foreign, summary, md5, size: body.length, holder })
}

/** One GET of the whole blob. `contentMD5`: the checksum that the service stores; absent if the body was truncated. */
export async function download(
  client: PlainContainerClient,
  url: string,
  name: string,
  abortSignal: AbortSignal,
  leaseId?: string,
) {
  const headers = { 'x-ms-lease-id': leaseId }
  const got = await client.send({ method: 'GET', url, headers, abortSignal, expected: 200 })
  // An abort after the last byte is no error of anyone.
  got.body?.on('error', () => {})
  const type = got.header('x-ms-blob-type')
  if (type !== undefined && type !== 'BlockBlob') {
    // Put Blob cannot change the type of a blob, so the write would be refused anyway.
    got.body?.destroy()
    throw new ServiceError('InvalidBlobType', { status: 409 })
  }
  const body = await collect(got.body)
  const isTruncated = body.length > MAX_READ_BYTES
  if (!isTruncated && body.length !== Number(got.header('content-length') ?? body.length))
    throw new ServiceError('AnswerCutOff')
  const metadata = metadataIn(got)
  const md5 = md5Of(body).toString('hex')
  const { summary, versionFloor } = readSummary(metadata, { md5, size: body.length })
  const stored: StreamSnapshot = {
    name,
    etag: got.header('etag') ?? '',
    size: body.length,
    modifiedMs: got.date('last-modified')?.getTime() ?? 0,
    lease: leaseIn(got, metadata),
    ...defined({ summary }),
    body,
    versionFloor,
  }
  const contentMD5 = isTruncated ? undefined : hexOf(got.header('content-md5'))
  return { stored, md5, metadata, headers: contentHeadersIn(got), date: got.date('date'), contentMD5 }
}

/** The content headers of a blob: their names in an answer, and in a write of the blob. */
const CONTENT_HEADERS = [
  ['blobContentType', 'content-type'],
  ['blobContentEncoding', 'content-encoding'],
  ['blobContentLanguage', 'content-language'],
  ['blobContentDisposition', 'content-disposition'],
  ['blobCacheControl', 'cache-control'],
] as const satisfies readonly (readonly [keyof BlobHTTPHeaders, string])[]

function contentHeaders(headers: BlobHTTPHeaders): Record<string, string | undefined> {
  return Object.fromEntries(CONTENT_HEADERS.map(([key, name]) => [`x-ms-blob-${name}`, headers[key]]))
}

function contentHeadersIn(answer: PlainAnswer): BlobHTTPHeaders {
  const found = CONTENT_HEADERS.map(([key, name]) => [key, answer.header(name)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

const META = 'x-ms-meta-'

function metadataIn(answer: PlainAnswer): Metadata {
  const metadata: Record<string, string> = {}
  for (const [name, value] of answer.headers()) if (name.startsWith(META)) metadata[name.slice(META.length)] = value
  return metadata
}

function leaseIn(answer: PlainAnswer, metadata: Metadata): LeaseView {
  return leaseView(answer.header('x-ms-lease-state'), answer.header('x-ms-lease-duration'), metadata)
}

/** Reads at most a little more than the size limit of a document, which is enough for the body to be rejected. */
async function collect(stream: Readable | undefined): Promise<Uint8Array> {
  const whole = stream === undefined ? Buffer.alloc(0) : await firstBytes(stream, MAX_READ_BYTES)
  return new Uint8Array(whole.buffer, whole.byteOffset, whole.length)
}

/** Base64 as lower-case hex; `undefined` for no bytes. */
function hexOf(base64: string | undefined): string | undefined {
  return base64 ? Buffer.from(base64, 'base64').toString('hex') : undefined
}

/** One Put that succeeds only if the name is free. If it is aborted in flight, its outcome is unknown. */
export async function createBlob(
  { calls, bodies }: { readonly calls: AzureRequests; readonly bodies: BlobIO },
  name: string,
  content: { readonly body: Uint8Array; readonly summary: Summary },
  signal: AbortSignal | undefined,
): Promise<CreateOutcome> {
  signal?.throwIfAborted()
  checkStoredName(name)
  const answer = await bodies.put(name, { ...content, signal }).catch(error => {
    if (signal?.aborted) return { kind: 'aborted', error } as const
    throw error
  })
  if (answer.kind === 'aborted') return { kind: 'unknown', cause: answer.error }
  if (answer.kind === 'done') return { kind: 'created', etag: answer.value.etag }
  const { error } = answer
  if (isConflict(error) || isHeldByAnother(error)) return { kind: 'exists' }
  const fault = calls.fault(error, name)
  if (answer.kind === 'refused' || answer.unansweredAttempts === 0) throw fault
  return { kind: 'unknown', cause: fault }
}
