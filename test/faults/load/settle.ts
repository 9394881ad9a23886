import { readStream } from '../../../src/ops/read-stream.ts'
import { removeStream } from '../../../src/ops/remove.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import {
  type Asked,
  type Call,
  callsOf,
  type HistoryLine,
  HistoryWriter,
  isOpen,
  type Told,
} from '../history/history.ts'
import type { FinalStream } from '../history/lives.ts'
import { changeOf, creation, type LoadOptions, removalTold, toldOf } from './load.ts'

type Repeatable = Exclude<Asked, { readonly what: 'read' }>

/** The number of repetitions. */
const TRIES = 20
/** These answers leave the earlier attempts open. */
const NO_WORDS = new Set(['held', 'lost'])

export interface Settled {
  readonly calls: readonly Call[]
  readonly streams: ReadonlyMap<string, FinalStream>
  /** Commands that were open after everything had healed, and were repeated. */
  readonly repeated: number
}

/** As those of the load. */
export type SettleOptions = Pick<LoadOptions, 'commandId' | 'idOf'>

/**
 * After everything has healed: ends the leases of dead workers, repeats open commands with their command id or ETag until
 * the outcome is known, and reads the streams.
 */
export async function settle(
  store: StreamStore,
  names: readonly string[],
  lines: readonly HistoryLine[],
  { commandId = same, idOf = same }: SettleOptions = {},
): Promise<Settled> {
  const open = new Map(callsOf(lines).filter(isOpen).flatMap(openOne))
  const last: HistoryLine[] = []
  const history = new HistoryWriter('last', line => last.push(line))
  const streams = new Map<string, FinalStream>()
  const settleOne = async (name: string) => {
    for (const { stream, asked } of open.values()) {
      if (stream !== name) continue
      const answer = history.ask(name, { ...asked, last: true })
      answer(await lastWord(store, name, () => repeated(store, name, asked, commandId)))
    }
    const found = await insisted(() => finalStream(store, name, idOf))
    if (found !== undefined) streams.set(name, found)
  }
  await Promise.all(names.map(settleOne))
  return { calls: callsOf([...lines, ...last]), streams, repeated: open.size }
}

/** The commands that can be repeated, by the identity of a command. */
function openOne({ stream, asked }: Call): [string, { stream: string; asked: Repeatable }][] {
  if (asked.what === 'read') return []
  return [[`${asked.what} ${asked.what === 'change' ? asked.id : asked.etag}`, { stream, asked }]]
}

/**
 * Repeats until the answer resolves this and all earlier attempts: a held lease, or a missing answer, resolves
 * none of them.
 */
export async function lastWord(store: StreamStore, name: string, ask: () => Promise<Told>): Promise<Told> {
  for (let tries = 0; tries < TRIES; tries++) {
    await insisted(() => store.breakLease(name, 0))
    const told = await insisted(ask)
    if (told.kind === 'done' || (told.kind === 'not-made' && !NO_WORDS.has(told.why))) return told
  }
  return { kind: 'unknown' }
}

/** A timeout of a slow machine is not an answer. */
async function insisted<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreUnreachable) || tries === TRIES) throw error
    }
  }
}

/** A missing stream was created and removed, or never created: creating it again would be another creation. */
async function repeated(
  store: StreamStore,
  stream: string,
  asked: Repeatable,
  commandId: (id: string) => string,
): Promise<Told> {
  if (asked.what === 'remove') {
    const { born, etag, journal } = asked
    return removalTold(await removeStream(store, stream, { born, etag, leaseWaitMs: 0 }), journal)
  }
  const { id, born } = asked
  const isCreation = id === born
  if (isCreation && (await store.read(stream)) === undefined) return { kind: 'not-made', why: 'missing' }
  const [operation, pin] = isCreation ? [creation(born), {}] : [changeOf(id), { ifBorn: born }]
  return toldOf(await transact(store, stream, operation, { commandId: commandId(id), by: 'last', ...pin }))
}

async function finalStream(
  store: StreamStore,
  name: string,
  idOf: (commandId: string) => string,
): Promise<FinalStream | undefined> {
  const view = await readStream(store, name)
  if (view === undefined) return undefined
  const journal = view.transactions().map(({ version, commandId }) => ({ version, id: idOf(commandId) }))
  return { born: view.document.born, journal, id: view.stream.root?.tag ?? '' }
}

function same(id: string): string {
  return id
}
