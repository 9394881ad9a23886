import { randomUUID } from 'node:crypto'
import { dataFindings } from '../../../src/ops/doctor/data.ts'
import { DATA_PREFIX, dataBeside } from '../../../src/ops/event-data.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import type { ChooseEvent } from '../../../src/ops/transact/plan.ts'
import { rewriteStream } from '../../../src/ops/transact/rewrite.ts'
import { transact, transactAsFound } from '../../../src/ops/transact/transact.ts'
import type { StreamStore, WriteMode } from '../../../src/store/store.ts'
import type { Operation as StreamOperation } from '../../../src/stream/operations/operation.ts'
import { commandIdOf, readCommand } from '../../../src/subscriptions/commands/command.ts'
import { executeCommands } from '../../../src/subscriptions/commands/execute.ts'
import { defined } from '../../../src/util/defined.ts'
import { holder } from '../../contract/harness.ts'
import type { Operation } from '../../support/fault-proxy.ts'
import { DATA_WRITES, WRITES, type Write } from './writes.ts'

/** A running cell: one stream, one operation on it. */
export interface Scene {
  /** Through the faulty network. */
  readonly store: StreamStore
  /** Without it: prepares, continues afterwards, and reads the state. */
  readonly direct: StreamStore
  readonly stream: string
  readonly commandId: string
  readonly leaseId: string
  /** Of the next writer. */
  readonly nextLeaseId: string
  readonly write: WriteMode
  /** The change that a subject makes, if it can make several. */
  readonly change: Write
  readonly signal?: AbortSignal
}

/** The possible states after an operation: done, not done, or done again for the next writer. Several may hold. */
export type Truth = 'as asked' | 'as before' | 'changed twice'

/** One of the operations of the matrix. */
export interface Subject {
  /** Its request with the fault. */
  readonly request: Operation
  /** Only requests to names like these: data stands beside documents. */
  readonly when?: (target: string) => boolean
  /** The caller cancels at this request with the fault, if not at the usual one. */
  readonly patience?: number
  /** The changes that it makes, one in each play. */
  readonly changes?: Readonly<Record<string, () => Write>>
  prepare(scene: Scene): Promise<unknown>
  /** The outcome's kind. Throws errors. */
  act(scene: Scene): Promise<string>
  /** The ordinary next step for the stream once the operation is done: another writer writes. */
  next(scene: Scene): Promise<unknown>
  /** Reads the state, after `next` if `isNext`. */
  truth(scene: Scene, isNext: boolean): Promise<readonly Truth[]>
}

const INIT = { op: 'init', root: { name: 'Start' }, forks: [], hold: false } as const
const NEXT: StreamOperation = { op: 'set', event: '00', attributes: { tag: 'next' } }
const CLAIM = { op: 'start', event: '', owner: 'w', claimMs: 600_000 } as const
const LEASE_S = 60
/** Data is sent this often, then its change is given up. */
const DATA_ATTEMPTS = 5

const create: Subject = {
  request: 'put',
  prepare: async () => {},
  act: ({ store, ...scene }) => change(store, scene, { ...INIT, born: randomUUID() }, scene.commandId),
  next: somebodyWrites,
  truth: inTheJournal,
}

const write: Subject = {
  request: 'put',
  when: target => !isData(target),
  changes: WRITES,
  prepare: madeReady,
  act: ({ store, ...scene }) => made(store, scene),
  next: scene => (scene.change.document === undefined ? somebodyWrites(scene) : theHolderWrites(scene)),
  truth: madeOnce,
}

/** The data of a change, which is written before the document that names it. */
const data: Subject = { ...write, when: isData, changes: DATA_WRITES, patience: DATA_ATTEMPTS + 1 }

const read: Subject = {
  request: 'get',
  prepare: begun,
  act: async ({ store, stream, signal }) => {
    const seen = await readStream(store, stream, signal)
    return seen?.transactions().some(({ commandId }) => commandId === 'begun') ? 'done' : 'missing'
  },
  next: somebodyWrites,
  truth: async ({ direct, stream }, isNext) => {
    const version = (await readStream(direct, stream))?.document.version
    return version === (isNext ? 2 : 1) ? ['as asked', 'as before'] : []
  },
}

const acquire: Subject = {
  request: 'acquire',
  prepare: begun,
  act: async ({ store, stream, leaseId, signal }) => {
    const options = { leaseId, durationS: LEASE_S, holder: holder('ada'), record: true }
    return (await store.acquireLease(stream, { ...options, ...(signal ? { signal } : {}) })).kind
  },
  // Its holder works, and releases it.
  next: async scene => {
    await theHolderWrites(scene)
    return scene.direct.releaseLease(scene.stream, scene.leaseId)
  },
  truth: async (scene, isNext) => {
    const isHeld = await holds(scene, scene.leaseId)
    if (isNext) return [isHeld ? 'changed twice' : 'as asked']
    return [isHeld ? 'as asked' : 'as before']
  },
}

const renew: Subject = {
  request: 'renew',
  prepare: held,
  act: async ({ store, stream, leaseId, signal }) => (await store.renewLease(stream, leaseId, signal)).kind,
  next: theHolderWrites,
  // Its duration is invisible; that it is held is visible.
  truth: async scene => ((await holds(scene, scene.leaseId)) ? ['as asked', 'as before'] : []),
}

const release: Subject = {
  request: 'release',
  prepare: held,
  act: async ({ store, stream, leaseId, signal }) => (await store.releaseLease(stream, leaseId, signal)).kind,
  next: anotherTakesIt,
  truth: lettingGo,
}

const breaking: Subject = {
  request: 'break',
  prepare: held,
  act: async ({ store, stream, signal }) => (await store.breakLease(stream, 0, signal)).kind,
  next: anotherTakesIt,
  truth: lettingGo,
}

/** The command that a handler of a subscription sent: without an answer the delivery comes again, with the same id. */
const saga: Subject = {
  request: 'put',
  prepare: begun,
  act: async ({ store, stream, signal = new AbortController().signal, ...scene }) => {
    const command = readCommand({ do: 'set', stream, event: '00', attributes: { tag: 'asked' } }, 'command')
    const { kind } = await executeCommands(store, deliveryOf(scene), [command], { by: 'ada', signal })
    return kind === 'handled' ? 'done' : kind === 'failed' ? 'refused' : 'unknown'
  },
  next: somebodyWrites,
  truth: (scene, isNext) => {
    const command = readCommand({ do: 'set', stream: scene.stream, event: '00', attributes: {} }, 'command')
    return inTheJournal({ ...scene, commandId: commandIdOf(deliveryOf(scene), command) }, isNext)
  },
}

/**
 * The write of a worker that ends an event and claims the next of its stream: both, or neither. Another event could be claimed
 * after it, so that a claim chosen anew would leave two.
 */
const work: Subject = {
  request: 'put',
  prepare: async ({ direct, ...scene }) => {
    const forks = ['A', 'B', 'C'].map(name => ({ name }))
    const ready = [
      { ...INIT, forks, born: randomUUID() },
      { ...CLAIM, event: '01.00' },
    ]
    for (const [at, operation] of ready.entries()) {
      const kind = await change(direct, scene, operation, `before-${at}`)
      if (kind !== 'done') throw new Error(`the stream could not be prepared: ${kind}`)
    }
  },
  act: async ({ store, stream, write, signal, commandId }) => {
    const options = { by: 'ada', write, ...defined({ signal }) }
    const end: StreamOperation = { op: 'complete', event: '01.00', owner: CLAIM.owner }
    const choose: ChooseEvent = ({ events }, made) => made ?? events.find(({ status }) => status === 'init')?.id
    const outcomes = await Promise.all([
      transact(store, stream, end, { ...options, commandId }),
      transactAsFound(store, stream, CLAIM, { ...options, commandId: claimIdOf(commandId) }, { choose }),
    ])
    return [...new Set(outcomes.map(({ kind }) => kind))].join(' and ')
  },
  next: somebodyWrites,
  truth: async (scene, isNext) => {
    const [end, claim] = [
      await inTheJournal(scene, isNext),
      await inTheJournal({ ...scene, commandId: claimIdOf(scene.commandId) }, isNext),
    ]
    const { events = [] } = (await readStream(scene.direct, scene.stream))?.document ?? {}
    const claimed = events.filter(({ lc }) => lc.owner === CLAIM.owner).map(({ id, status }) => `${id} ${status}`)
    const shown = claimed.join(', ')
    if (shown === '01.00 inprocess') return end.filter(truth => truth === 'as before' && claim.includes(truth))
    if (shown === '01.00 completed, 02.00 inprocess')
      return end.filter(truth => truth !== 'as before' && claim.includes(truth))
    return claimed.length > 2 ? ['changed twice'] : []
  },
}

function claimIdOf(commandId: string): string {
  return `${commandId}-claim`
}

function deliveryOf({ leaseId }: Pick<Scene, 'leaseId'>) {
  return { subscription: 'billing', id: `${leaseId}@1` }
}

/** By their names on the page. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  create,
  acquire,
  read,
  write,
  data,
  renew,
  release,
  break: breaking,
  saga,
  work,
}

function isData(target: string): boolean {
  return decodeURIComponent(target).includes(`/${DATA_PREFIX}`)
}

async function begun({ direct, ...scene }: Scene): Promise<void> {
  const kind = await change(direct, scene, { ...INIT, born: randomUUID() }, 'begun')
  if (kind !== 'done') throw new Error(`the stream could not be prepared: ${kind}`)
}

async function madeReady(begin: Scene): Promise<void> {
  const { direct, ...scene } = begin
  for (const [at, operation] of scene.change.before.entries()) {
    const kind = await change(direct, scene, operation, `before-${at}`)
    if (kind !== 'done') throw new Error(`the stream could not be prepared: ${kind}`)
  }
  if (scene.change.document !== undefined) await take(begin, scene.leaseId)
}

/** A document is written under a lease of the caller; other changes take their own. */
async function made(store: StreamStore, { stream, commandId, leaseId, ...scene }: Omit<Scene, 'store'>) {
  const { document, operation } = scene.change
  if (document === undefined) return change(store, { ...scene, stream, commandId, leaseId }, operation, commandId)
  const options = { commandId, leaseId, by: 'ada', ...defined({ signal: scene.signal }) }
  return (await rewriteStream(store, stream, Buffer.from(document), options)).kind
}

async function held(scene: Scene): Promise<void> {
  await begun(scene)
  await take(scene, scene.leaseId)
}

/** Without a lease: one whose release is in flight would refuse a later copy. */
async function somebodyWrites({ direct, ...scene }: Scene): Promise<void> {
  await change(direct, { ...scene, write: 'optimistic' }, NEXT, 'next')
}

async function theHolderWrites({ direct, ...scene }: Scene): Promise<void> {
  await change(direct, scene, NEXT, 'next', scene.leaseId)
}

async function anotherTakesIt({ direct, ...scene }: Scene): Promise<void> {
  await take({ direct, ...scene }, scene.nextLeaseId)
  await change(direct, scene, NEXT, 'next', scene.nextLeaseId)
}

async function take({ direct, stream }: Scene, leaseId: string): Promise<void> {
  const { kind } = await direct.acquireLease(stream, { leaseId, durationS: LEASE_S, holder: holder('grace') })
  if (kind !== 'acquired') throw new Error(`the lease could not be taken: ${kind}`)
}

async function change(
  store: StreamStore,
  { stream, write, signal }: Omit<Scene, 'store' | 'direct'>,
  operation: StreamOperation,
  commandId: string,
  leaseId?: string,
): Promise<string> {
  const options = { commandId, by: 'ada', write, ...(leaseId ? { leaseId } : {}), ...(signal ? { signal } : {}) }
  return (await transact(store, stream, operation, options)).kind
}

/** The command id occurs once in the history, or not at all, and the history has no gap but for what the change drops. */
async function inTheJournal(
  { direct, stream, commandId, change: { trims } }: Scene,
  isNext: boolean,
): Promise<readonly Truth[]> {
  const transactions = (await readStream(direct, stream))?.transactions() ?? []
  const times = transactions.filter(one => one.commandId === commandId).length
  const isWhole =
    transactions.every(({ provisional }) => !provisional) &&
    (isGapless(transactions) || (trims === true && transactions.some(({ op }) => op === 'trim'))) &&
    (!isNext || transactions.at(-1)?.commandId === 'next')
  if (!isWhole) return []
  return times === 1 ? ['as asked'] : times === 0 ? ['as before'] : ['changed twice']
}

function isGapless(transactions: readonly { readonly version: number }[]): boolean {
  return transactions.every(({ version }, at) => version === at + 1)
}

/**
 * The same, and the document shows the effect of the change once, or not at all; its data is there, and no finding of
 * `doctor` says otherwise.
 */
async function madeOnce(scene: Scene, isNext: boolean): Promise<readonly Truth[]> {
  const truth = await inTheJournal(scene, isNext)
  const { direct, stream, change: made } = scene
  const view = await readStream(direct, stream)
  if (view === undefined) return made.before.length === 0 ? truth : []
  const effects = made.effects(view.document)
  if (effects > 1) return ['changed twice']
  const [shown] = effects === 1 ? (['as asked'] as const) : (['as before'] as const)
  if (!truth.includes(shown)) return []
  const faults = await dataFindings(direct, view, { deep: true })
  const isThere = made.data === undefined || dataBeside(view.document).length === effects
  return faults.length === 0 && isThere ? [shown] : []
}

async function lettingGo(scene: Scene, isNext: boolean): Promise<readonly Truth[]> {
  if (isNext) return [(await holds(scene, scene.nextLeaseId)) ? 'as asked' : 'changed twice']
  return [(await holds(scene, scene.leaseId)) ? 'as before' : 'as asked']
}

/** Renewing shows it. */
async function holds({ direct, stream }: Scene, leaseId: string): Promise<boolean> {
  return (await direct.renewLease(stream, leaseId)).kind === 'ok'
}
