import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact.ts'
import type { EventStore } from '../../../src/store/store.ts'
import { type Call, callsOf, type HistoryLine, HistoryWriter, type Told } from '../history/history.ts'
import type { FinalStream } from '../history/lives.ts'
import { openChanges } from './crew.ts'
import { changeOf, creation, type LoadOptions, notMade, type OpenChange, toldOf } from './load.ts'

export interface Settled {
  readonly calls: readonly Call[]
  readonly streams: ReadonlyMap<string, FinalStream>
  /** Commands that were open after all had healed, and were repeated. */
  readonly repeated: number
}

/** As those of the load. */
export type SettleOptions = Pick<LoadOptions, 'commandId' | 'idOf'>

/**
 * After everything has healed: ends the leases of those who died, repeats what is open under its own command id, and reads
 * what is there.
 */
export async function settle(
  store: EventStore,
  names: readonly string[],
  lines: readonly HistoryLine[],
  { commandId = same, idOf = same }: SettleOptions = {},
): Promise<Settled> {
  const open = [...new Map(openChanges(lines).map(change => [change.id, change])).values()]
  const last: HistoryLine[] = []
  const history = new HistoryWriter('last', line => last.push(line))
  const streams = new Map<string, FinalStream>()
  const settleOne = async (name: string) => {
    const those = open.filter(({ stream }) => stream === name)
    if (those.length > 0) await store.break(name, 0)
    for (const change of those) {
      const { id, born } = change
      const answer = history.ask(name, { what: 'change', id, born, last: true })
      answer(await repeated(store, change, commandId))
    }
    const found = await finalStream(store, name, idOf)
    if (found !== undefined) streams.set(name, found)
  }
  await Promise.all(names.map(settleOne))
  return { calls: callsOf([...lines, ...last]), streams, repeated: open.length }
}

/** What is gone was made and removed, or never made: to create it again would be another creation. */
async function repeated(
  store: EventStore,
  { stream, id, born }: OpenChange,
  commandId: (id: string) => string,
): Promise<Told> {
  const isCreation = id === born
  if (isCreation && (await store.read(stream)) === undefined) return { kind: 'not-made', why: 'missing' }
  const [operation, pin] = isCreation ? [creation(born), {}] : [changeOf(id), { ifBorn: born }]
  return transact(store, stream, operation, { commandId: commandId(id), by: 'last', ...pin }).then(toldOf, notMade)
}

async function finalStream(
  store: EventStore,
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
