// A separate program that makes the changes of processes on a disk whose calls fail one after the other, and repeats them:
// node child-changes.ts FOLDER OPTIONS
// Prints a line of JSON for each run.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { dataFindings, orphanedData } from '../../../../src/ops/doctor/data.ts'
import { DATA_PREFIX, dataBeside, dataName, listData } from '../../../../src/ops/event-data.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { rewriteStream } from '../../../../src/ops/transact/rewrite.ts'
import { transact } from '../../../../src/ops/transact/transact.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { LeasectlError } from '../../../../src/stream/errors.ts'
import { DATA_WRITES, WRITES, type Write } from '../../matrix/writes.ts'
import { arm, type Failing } from './talk.ts'

export interface ChangesOptions {
  /** The changes are made once for each `first` of their calls, or every n-th of them. */
  readonly failing: Omit<Failing, 'first'> & { readonly every: number }
  /** Removes the data of a result that was written, as a store would that loses it. */
  readonly losesData?: boolean
}

export interface ChangesRun extends Failing {
  readonly injected: number
  /** Pieces of data that no document named before the changes were repeated. */
  readonly orphans: number
  readonly faults: readonly string[]
}

/** Longer than `doctor` leaves new data alone. */
const LATER_MS = 7_200_000

const [folder = '', given = '{}'] = process.argv.slice(2)
const { failing, losesData = false }: ChangesOptions = JSON.parse(given)

/** Each change once. */
function made(): readonly Write[] {
  const all = [...Object.values(WRITES), ...Object.values(DATA_WRITES)].map(make => make())
  return [...new Map(all.map(write => [write.name, write])).values()]
}

const idOf = ({ name }: Write): string => name.replaceAll(' ', '-')

function open(path: string): StreamStore {
  // Pauses between attempts are as short as possible.
  return openSqliteStore(path, { random: () => 0, onOpen: db => db.exec('PRAGMA wal_autocheckpoint = 8') })
}

async function kindOf(store: StreamStore, write: Write): Promise<string> {
  const options = { commandId: idOf(write), by: 'ada', leaseWaitMs: 0 }
  const { name, operation, document } = write
  try {
    if (document === undefined) return (await transact(store, name, operation, options)).kind
    return (await rewriteStream(store, name, Buffer.from(document), { ...options, leaseId: LEASE_ID })).kind
  } catch (error) {
    if (error instanceof LeasectlError) return error.code
    throw error
  }
}

/** Of the caller, for a whole document. */
const LEASE_ID = '5f0c4a6e-3b1d-4c8e-9a57-2d6f7b8c9d01'

async function prepare(store: StreamStore, { name, before, document }: Write): Promise<void> {
  for (const [at, operation] of before.entries()) {
    const { kind } = await transact(store, name, operation, { commandId: `before-${at}`, by: 'ada' })
    if (kind !== 'done') throw new Error(`${name} could not be prepared: ${kind}`)
  }
  if (document === undefined) return
  const holder = { by: 'ada', host: 'host-1', pid: 1, purpose: 'a whole document', sinceMs: Date.now() }
  const { kind } = await store.acquireLease(name, { leaseId: LEASE_ID, durationS: -1, holder })
  if (kind !== 'acquired') throw new Error(`${name} could not be leased: ${kind}`)
}

/** The effect of a change that its outcome promises, and data that its document names. */
async function faultsOf(store: StreamStore, write: Write, told: string): Promise<string[]> {
  const { name, effects } = write
  const view = await readStream(store, name)
  const times = view === undefined ? 0 : effects(view.document)
  const entries = view?.transactions().filter(({ commandId }) => commandId === idOf(write)).length ?? 0
  const expected = told === 'done' ? [1] : told === 'unknown' ? [0, 1] : [0]
  const isRight = expected.includes(times) && entries === times
  const findings = view === undefined ? [] : await dataFindings(store, view, { deep: true })
  return [
    ...(isRight ? [] : [`${name}: ${told}, but ${times} effects and ${entries} entries`]),
    ...findings.map(({ code }) => `${name}: ${told}: ${code}`),
  ]
}

/** Data that no document names, counted here and by `doctor`. */
async function orphansIn(store: StreamStore, names: readonly string[]): Promise<{ own: number; doctor: number }> {
  const named = new Set<string>()
  for (const stream of names) {
    const view = await readStream(store, stream)
    for (const { data } of view === undefined ? [] : dataBeside(view.document)) {
      named.add(dataName({ stream, born: view?.document.born ?? '' }, data))
    }
  }
  let own = 0
  for await (const { name } of listData(store, DATA_PREFIX)) if (!named.has(name)) own += 1
  const later = new Proxy(store, {
    get(target, property) {
      if (property === 'nowMs') return () => target.nowMs() + LATER_MS
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { own, doctor: (await orphanedData(later, { remove: false })).count }
}

async function loseData(store: StreamStore): Promise<void> {
  for await (const { name } of listData(store, DATA_PREFIX)) await store.remove(name, {})
}

async function run(each: Failing): Promise<ChangesRun & { readonly seen: number }> {
  const path = join(folder, 'new', 'streams.db')
  rmSync(join(folder, 'new'), { recursive: true, force: true })
  const writes = made()
  const first = open(path)
  for (const write of writes) await prepare(first, write)
  arm(each)
  const told: string[] = []
  for (const write of writes) told.push(await kindOf(first, write))
  const { seen, injected } = arm(undefined)
  await first.close()
  // Another process goes on as soon as the disk works again.
  const store = open(path)
  const faults: string[] = []
  for (const [at, write] of writes.entries()) faults.push(...(await faultsOf(store, write, told[at] ?? '')))
  const orphans = await orphansIn(
    store,
    writes.map(({ name }) => name),
  )
  if (orphans.own !== orphans.doctor) faults.push(`doctor found ${orphans.doctor} of ${orphans.own} orphans`)
  for (const write of writes) {
    const kind = await kindOf(store, write)
    if (kind !== 'done') faults.push(`${write.name}: repeated: ${kind}`)
  }
  if (losesData) await loseData(store)
  for (const write of writes) faults.push(...(await faultsOf(store, write, 'done')))
  await store.close()
  return { ...each, seen, injected, orphans: orphans.own, faults }
}

mkdirSync(folder, { recursive: true })
const { every, ...calls } = failing
// The number of calls without a failure.
const { seen } = await run({ ...calls, first: Number.MAX_SAFE_INTEGER })
for (let first = 1; first <= seen; first += every) {
  process.stdout.write(`${JSON.stringify(await run({ ...calls, first }))}\n`)
}
