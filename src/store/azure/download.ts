import { Readable } from 'node:stream'
import type { BlobHTTPHeaders, BlockBlobClient } from '@azure/storage-blob'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import type { Stored } from '../store.ts'
import { ServiceError } from './errors.ts'
import { leaseView, md5Of, readSummary } from './metadata.ts'

/** One GET of the whole blob. `contentMD5`: the mark the service keeps, unless the body was not taken in whole. */
export async function download(blob: BlockBlobClient, name: string, abortSignal: AbortSignal) {
  const got = await blob.download(0, undefined, { abortSignal, maxRetryRequests: 0 })
  if (got.blobType !== undefined && got.blobType !== 'BlockBlob') {
    // Streams are written by Put Blob, which changes no type: to read it would only put the refusal off.
    if (got.readableStreamBody instanceof Readable) got.readableStreamBody.destroy()
    throw new ServiceError('InvalidBlobType', { status: 409 })
  }
  const body = await collect(got.readableStreamBody)
  const metadata = got.metadata ?? {}
  const md5 = md5Of(body).toString('hex')
  const { summary, versionFloor } = readSummary(metadata, { md5, size: body.length })
  const stored: Stored = {
    name,
    etag: got.etag ?? '',
    size: body.length,
    modifiedMs: got.lastModified?.getTime() ?? 0,
    lease: leaseView(got.leaseState, got.leaseDuration, metadata),
    ...(summary === undefined ? {} : { summary }),
    body,
    versionFloor,
  }
  const headers: BlobHTTPHeaders = {
    ...(got.contentType === undefined ? {} : { blobContentType: got.contentType }),
    ...(got.contentEncoding === undefined ? {} : { blobContentEncoding: got.contentEncoding }),
    ...(got.contentLanguage === undefined ? {} : { blobContentLanguage: got.contentLanguage }),
    ...(got.contentDisposition === undefined ? {} : { blobContentDisposition: got.contentDisposition }),
    ...(got.cacheControl === undefined ? {} : { blobCacheControl: got.cacheControl }),
  }
  const contentMD5 = body.length > MAX_READ_BYTES ? undefined : hex(got.contentMD5)
  return { stored, md5, metadata, headers, date: got.date, contentMD5 }
}

/** What is larger than any document is not taken in whole: a little more than the limit is enough to be refused. */
async function collect(stream: NodeJS.ReadableStream | undefined): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    chunks.push(chunk as Buffer)
    size += chunk.length
    if (size > MAX_READ_BYTES) break
  }
  const whole = Buffer.concat(chunks)
  return new Uint8Array(whole.buffer, whole.byteOffset, whole.length)
}

/** Lower-case hex; `undefined` for no bytes. */
export function hex(mark: Uint8Array | undefined): string | undefined {
  return mark === undefined || mark.length === 0 ? undefined : Buffer.from(mark).toString('hex')
}
