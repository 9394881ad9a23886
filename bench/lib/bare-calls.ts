import { randomUUID } from 'node:crypto'
import { BlobServiceClient, type BlockBlobClient } from '@azure/storage-blob'
import { connectionStringAt } from '../../test/support/azurite.ts'

/** The size of a stream of 100 events with half its history. */
const BODY = Buffer.alloc(30_000, 'x')
const LEASE_S = 60
const WARM_UP = 20

/** The minimum time of a lab test, ms: the same calls in sequence, from one warm process, with nothing in between. */
export interface BareCalls {
  /** Number of sequences of acquire, GET, two Puts and release. */
  leased(tenures: number): Promise<number>
  /** Number of sequences of GET and two Puts. */
  optimistic(turns: number): Promise<number>
  puts(count: number): Promise<number>
}

export async function bareCalls(port: number): Promise<BareCalls> {
  const service = BlobServiceClient.fromConnectionString(connectionStringAt(port))
  const container = service.getContainerClient(`bare-${randomUUID()}`)
  await container.create()
  const blob = container.getBlockBlobClient('stream')
  await put(blob)
  await times(WARM_UP, () => tenure(blob))
  return {
    leased: tenures => times(tenures, () => tenure(blob)),
    optimistic: turns => times(turns, () => turn(blob)),
    puts: count => times(count, () => put(blob)),
  }
}

async function times(count: number, call: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  for (let at = 0; at < count; at += 1) await call()
  return performance.now() - startMs
}

async function tenure(blob: BlockBlobClient): Promise<void> {
  const leaseId = randomUUID()
  const lease = blob.getBlobLeaseClient(leaseId)
  await lease.acquireLease(LEASE_S)
  await turn(blob, leaseId)
  await lease.releaseLease()
}

async function turn(blob: BlockBlobClient, leaseId?: string): Promise<void> {
  await blob.downloadToBuffer()
  await put(blob, leaseId)
  await put(blob, leaseId)
}

function put(blob: BlockBlobClient, leaseId?: string): Promise<unknown> {
  return blob.upload(BODY, BODY.length, leaseId === undefined ? {} : { conditions: { leaseId } })
}
