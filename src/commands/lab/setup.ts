import { randomUUID } from 'node:crypto'
import { containerCreator } from '../../cli/create-container.ts'
import type { Output } from '../../cli/output.ts'
import type { Processes, Runtime } from '../../cli/runtime.ts'
import { requireFile } from '../../cli/store.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import { removeStream } from '../../ops/remove.ts'
import { transact } from '../../ops/transact/transact.ts'
import type { LineChannel } from '../../process/line-process.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import type { LabOptions } from './options.ts'
import { clockName, ownAddress } from './own-streams.ts'

/** How long the removal of a stream waits for a leftover lease, ms; shorter after an interruption. */
const REMOVE_WAIT_MS = 20_000
const INTERRUPTED_WAIT_MS = 2_000

/** Opens the store of a lab. A worker process gets its address from the parent, which has checked it. */
export async function openLabStore(options: LabOptions, runtime: Runtime): Promise<StreamStore> {
  const isWorker = options.asWorker !== undefined && options.store !== undefined
  const address = isWorker ? options.store : await labAddress(options, runtime)
  const { store } = await runtime.openStore({ store: address })
  return store
}

/** @throws CommandFailed if a file that was named is missing and not to be created */
async function labAddress(options: LabOptions, runtime: Runtime): Promise<string> {
  const address = await ownAddress('lab', options, runtime)
  if (options.store !== undefined && !options.createContainer) requireFile(address)
  return address
}

/** `5 processes contend`, `1 process contends` */
export function contenders(procs: number, verb: string): string {
  return `${counted(procs, 'process', 'processes')} ${verb}${procs === 1 ? 's' : ''}`
}

/** `lab/stream-20261120-184302-4711`; the pid keeps labs apart that start at the same time. */
export function labName(test: 'lease' | 'stream', runtime: Runtime): string {
  return `lab/${test}-${clockName(runtime.nowMs())}-${runtime.pid}`
}

/** Creates the lab's stream with `events` unstarted events. */
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
  const outcome = await containerCreator(store, options.createContainer)(create)
  if (outcome.kind !== 'done') throw new Error(`${stream} could not be created: ${outcome.kind}`)
}

/** Removes the lab's stream, or reports why it stays. */
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
  if (why !== undefined) await output.say(`${visibleName(stream)} could not be removed: ${visibleText(why)}`)
}

/** The final state of the lab's stream. */
export async function finalState(store: StreamStore, stream: string): Promise<StreamView> {
  const view = await readStream(store, stream)
  if (view === undefined) throw new Error(`the stream ${stream} was removed while the lab ran`)
  return view
}

/** Starts workers of a lab: this program, with the flags of a worker. */
export function workerStarter(
  test: 'lease' | 'stream',
  store: StreamStore,
  stream: string,
  flags: readonly string[],
  runtime: Processes,
): (name: string, at: number) => Promise<LineChannel> {
  // With -o json a failure of the worker goes to stderr as JSON, which the parent parses.
  const words = ['--stream', stream, ...flags, '--store', store.address, '-o', 'json']
  return (name, at) => runtime.startLineProcess(['lab', test, '--as-worker', name, '--at', String(at), ...words])
}
