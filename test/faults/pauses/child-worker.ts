/**
 * A worker process that is paused (SIGSTOP) in the middle of an event: by itself, at an internal point, or by the test,
 * which sees its requests. Argument: `WorkerOrders` as JSON. It prints each `WorkerWord` as a line of JSON, and ends its
 * event once a line arrives. It exits at the end of its input.
 */
import type { Decision, StreamSnapshot, StreamStore } from '../../../src/index.ts'
import { OWNER, type WorkerOrders, type WorkerWord } from './orders.ts'

const orders: WorkerOrders = JSON.parse(process.argv[2] ?? '')
const { openStore, workOn, transact, complete }: typeof import('../../../src/index.ts') = await import(orders.library)
const { stream, event, claimMs, stopsAt, without } = orders
const go = new Promise(resolve => process.stdin.once('data', resolve))
process.stdin.once('end', () => process.exit())
let isEnding = false

const opened = await openStore(orders.address, process.env)
const store = without === 'conditions' ? unconditional(opened) : stoppable(opened)
const options = { owner: OWNER, by: 'paused', claimMs }
const outcome = await workOn(store, stream, event, options, async ({ fence, signal }) => {
  say({ kind: 'claimed', fence })
  await go
  if (stopsAt === 'work') stopHere()
  // A worker that lost its claim reports nothing: this one does not check.
  if (without === 'fence') await endAsIf()
  // Only a heartbeat can reveal it.
  else if (stopsAt === 'work') await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  isEnding = true
  return complete()
})
switch (outcome.kind) {
  case 'reported':
    say({ kind: 'reported', version: outcome.result.version })
    break
  case 'lost':
    say({ kind: 'lost', code: outcome.lost.code })
    break
  default:
    say({
      kind: outcome.kind,
      code: outcome.undone.kind === 'refused' ? outcome.undone.refusal.code : outcome.undone.kind,
    })
}
await opened.close()
process.exit()

function say(word: WorkerWord): void {
  process.stdout.write(`${JSON.stringify(word)}\n`)
}

/** Returns when the process has been continued. */
function stopHere(): void {
  process.kill(process.pid, 'SIGSTOP')
  // The signal may take a moment to arrive: nothing must be done meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
}

/** Pauses before, in or after the change that ends the event. */
function stoppable(inner: StreamStore): StreamStore {
  const stopIf = (point: WorkerOrders['stopsAt']) => {
    if (!isEnding || stopsAt !== point) return
    isEnding = false
    stopHere()
  }
  return withChange(inner, async (name, decide, options) => {
    stopIf('change')
    const deciding = (current: StreamSnapshot, nowMs: number): Decision => {
      const decision = decide(current, nowMs)
      stopIf('decided')
      return decision
    }
    const outcome = await inner.update(name, deciding, options)
    stopIf('written')
    return outcome
  })
}

/** Reads, decides and writes, without a lease and without checking that the blob is unchanged. */
function unconditional(inner: StreamStore): StreamStore {
  return withChange(inner, async (name, decide) => {
    const current = await inner.read(name)
    const decision = current === undefined ? undefined : decide(current, inner.nowMs())
    if (decision?.kind !== 'put') return { kind: 'left' }
    if (isEnding) {
      isEnding = false
      stopHere()
    }
    const { BlobServiceClient } = await import('@azure/storage-blob')
    const container = new URL(inner.address).pathname.slice(1)
    const service = BlobServiceClient.fromConnectionString(process.env.AZURE_STORAGE_CONNECTION_STRING ?? '')
    const blob = service.getContainerClient(container).getBlockBlobClient(name)
    const { etag = '' } = await blob.upload(Buffer.from(decision.body), decision.body.length)
    return { kind: 'committed', etag }
  })
}

function withChange(inner: StreamStore, update: StreamStore['update']): StreamStore {
  return new Proxy(inner, {
    get(target, property) {
      if (property === 'update') return update
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The end of the event with only the owner's name. */
async function endAsIf(): Promise<void> {
  const operation = { op: 'complete', event, owner: OWNER } as const
  const { kind } = await transact(opened, stream, operation, { commandId: 'unfenced', by: 'paused' })
  say({ kind: 'unfenced', outcome: kind })
}
