import { randomUUID } from 'node:crypto'
import type { Output } from '../../cli/output.ts'
import type { Processes, Runtime } from '../../cli/runtime.ts'
import { clockName, ownAddress } from '../../cli/store.ts'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import { removeStream } from '../../ops/remove.ts'
import { transact } from '../../ops/transact/transact.ts'
import type { LineChannel } from '../../process/line-process.ts'
import { ContainerMissing } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { LabOptions } from './options.ts'

/** How long a removal waits for a lease that is left over, ms; less when it was interrupted. */
const REMOVE_WAIT_MS = 20_000
const INTERRUPTED_WAIT_MS = 2_000

/** A lab's store. A worker is told it by the one who started it, who has checked it. */
export async function openLabStore(options: LabOptions, runtime: Runtime): Promise<StreamStore> {
  const isWorker = options.asWorker !== undefined && options.store !== undefined
  const address = isWorker ? options.store : await ownAddress('lab', options, runtime)
  const { store } = await runtime.openStore({ store: address })
  return store
}

/** `lab/stream-20261120-184302-4711`: two labs that begin at the same time have their own. */
export function labName(test: 'lease' | 'stream', runtime: Runtime): string {
  return `lab/${test}-${clockName(runtime.nowMs())}-${runtime.pid}`
}

/** Creates the lab's stream, with so many events that nobody has begun. */
export async function createLabStream(
  store: StreamStore,
  stream: string,
  events: number,
  options: LabOptions,
  runtime: Runtime,
): Promise<void> {
  const forks = Array.from({ length: events }, () => ({ name: 'Step', topic: 'lab' }))
  const init = { op: 'init', root: { name: 'Lab' }, forks, hold: false, born: randomUUID() } as const
  const create = () => transact(store, stream, init, { commandId: runtime.newId(), by: runtime.actor, why: 'lab' })
  const outcome = await create().catch(async error => {
    const mayCreate = options.createContainer || store.address.startsWith('azurite:')
    if (!(error instanceof ContainerMissing) || !mayCreate) throw error
    await store.createContainer()
    return create()
  })
  if (outcome.kind !== 'done') throw new Error(`${stream} could not be created: ${outcome.kind}`)
}

/** Removes the lab's stream, or says why it is left. */
export async function removeLabStream(
  store: StreamStore,
  stream: string,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const leaseWaitMs = runtime.signal.aborted ? INTERRUPTED_WAIT_MS : REMOVE_WAIT_MS
  const why = await removeStream(store, stream, { leaseWaitMs }).then(
    ({ kind }) => (kind === 'removed' || kind === 'missing' ? undefined : kind),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
  if (why !== undefined)
    await output.say(`${visibleName(stream)} is left: it could not be removed (${visibleText(why)})`)
}

/** The lab's stream at its end. */
export async function endOf(store: StreamStore, stream: string): Promise<StreamView> {
  const view = await readStream(store, stream)
  if (view === undefined) throw new Error(`the stream ${stream} was removed while the lab ran`)
  return view
}

/** Starts workers of a lab: this program with the flags that each needs. */
export function workerStarter(
  test: 'lease' | 'stream',
  store: StreamStore,
  stream: string,
  flags: readonly string[],
  runtime: Processes,
): (name: string, at: number) => Promise<LineChannel> {
  // Why one fails is read by its team.
  const words = ['--stream', stream, ...flags, '--store', store.address, '-o', 'json']
  return (name, at) => runtime.startLineProcess(['lab', test, '--as-worker', name, '--at', String(at), ...words])
}
