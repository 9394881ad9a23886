import { randomUUID } from 'node:crypto'
import { md5Of, writeMetadata } from '../../src/store/azure/metadata.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Summary } from '../../src/stream/summary.ts'
import { createStream } from './streams.ts'

const PAGE = 5_000
const PREFIX = 'orders/'
const DIGITS = 8
const HEAD =
  '<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="https://acct.blob.core.windows.net/" ContainerName="orders"><MaxResults>5000</MaxResults><Blobs>'

/**
 * A listing of any number of streams `orders/00000000`, … in the format of the Blob service, each with the summary of a stream
 * of ten events in about 1.5 KB of metadata. All pages are copies of one with other names and ETags.
 */
export class CannedListing {
  readonly #streams: number
  /** The blobs of one page. */
  readonly #bytes: Buffer
  /** Offset of each blob, and the end of the last. */
  readonly #starts: readonly number[]
  readonly #nameAt: readonly number[]
  readonly #etagAt: readonly number[]

  private constructor(streams: number, blobs: readonly string[]) {
    this.#streams = streams
    this.#bytes = Buffer.from(blobs.join(''))
    const starts = [0]
    for (const blob of blobs) starts.push((starts.at(-1) ?? 0) + Buffer.byteLength(blob))
    this.#starts = starts
    const placesOf = (mark: string) => blobs.map((blob, i) => (starts[i] ?? 0) + blob.indexOf(mark) + mark.length)
    this.#nameAt = placesOf(`<Name>${PREFIX}`)
    this.#etagAt = placesOf('<Etag>0x8DE')
  }

  static async of(streams: number): Promise<CannedListing> {
    const store = openMemoryStore()
    await createStream(store, 'orders/1')
    const stored = await store.read('orders/1')
    if (stored?.summary === undefined) throw new Error('no summary')
    const { body, summary } = stored
    return new CannedListing(
      streams,
      Array.from({ length: PAGE }, (_, at) => blobXml(body, varied(summary, at))),
    )
  }

  /** The first stream whose name is equal to the given one or after it. */
  firstFrom(name: string): number {
    if (!name.startsWith(PREFIX)) return name < PREFIX ? 0 : this.#streams
    const [, digits = '', more = ''] = /^(\d*)(.?)/.exec(name.slice(PREFIX.length)) ?? []
    const isBehind = more > '9' || digits.length > DIGITS
    return isBehind ? Number(digits.slice(0, DIGITS).padEnd(DIGITS, '9')) + 1 : Number(digits.padEnd(DIGITS, '0'))
  }

  page(from: number, size: number): Buffer {
    const count = Math.max(0, Math.min(size, PAGE, this.#streams - from))
    for (let i = 0; i < count; i += 1) {
      const digits = String(from + i).padStart(DIGITS, '0')
      this.#bytes.write(digits, this.#nameAt[i] ?? 0, 'latin1')
      this.#bytes.write(digits, this.#etagAt[i] ?? 0, 'latin1')
    }
    const next = from + count < this.#streams ? `<NextMarker>${from + count}</NextMarker>` : '<NextMarker />'
    const blobs = this.#bytes.subarray(0, this.#starts[count])
    return Buffer.concat([Buffer.from(HEAD), blobs, Buffer.from(`</Blobs>${next}</EnumerationResults>`)])
  }
}

/** Streams in different states: one in five has failed, with a message. */
function varied(summary: Summary, at: number): Summary {
  const usual: Summary = {
    ...summary,
    // a stream without a version would have to be read
    version: 1 + (at % 100),
    born: randomUUID(),
    lastBy: `worker-${at % 40}@host-${at % 7}`,
    tag: `customer-${at % 1_000}/batch-of-the-night/priority-${at % 3}`,
    key: `4711-${at}`,
    trackingId: randomUUID(),
    // no event becomes due during the measurement
    dueMs: (summary.dueMs ?? 0) + 86_400_000 + at * 1_000,
  }
  const failure =
    'connect ETIMEDOUT 10.0.0.7:443 while asking https://search.example.com/v1/offers?order=4711 for offers'
  return at % 5 > 0 ? usual : { ...usual, outcome: 'errors', failed: 1, failedId: '03.00', failedAtMs: 0, failure }
}

function blobXml(body: Uint8Array, summary: Summary): string {
  const md5 = md5Of(body)
  const metadata = writeMetadata({
    foreign: {},
    summary,
    md5: md5.toString('hex'),
    size: body.length,
    holder: undefined,
  })
  const elements = Object.entries(metadata).map(([key, value]) => `<${key}>${value}</${key}>`)
  const date = 'Fri, 02 Jan 2026 03:04:05 GMT'
  return (
    `<Blob><Name>${PREFIX}00000000</Name><Properties><Creation-Time>${date}</Creation-Time><Last-Modified>${date}</Last-Modified>` +
    `<Etag>0x8DE00000000</Etag><Content-Length>${body.length}</Content-Length><Content-Type>application/xml</Content-Type>` +
    `<Content-Encoding /><Content-Language /><Content-CRC64 /><Content-MD5>${md5.toString('base64')}</Content-MD5>` +
    '<Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>' +
    '<AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>' +
    `<ServerEncrypted>true</ServerEncrypted></Properties><Metadata>${elements.join('')}</Metadata><OrMetadata /></Blob>`
  )
}
