import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { openAzuriteStore } from '../../support/azurite.ts'
import { startFaultProxy } from '../../support/fault-proxy.ts'
import { seededRandom } from '../../support/faults.ts'
import { check, type Verdict } from '../history/checker.ts'
import { type Call, type HistoryLine, HistoryWriter } from '../history/history.ts'
import { runCrew } from './crew.ts'
import { openAzurite } from './crew-orders.ts'
import type { CrewProgram } from './crew-program.ts'
import { evidenceFor } from './evidence.ts'
import { bornOf, creation, type LoadOptions, load, toldOf } from './load.ts'
import { badNetwork, kindsOf } from './network.ts'
import { lastWord, type SettleOptions, settle } from './settle.ts'

export interface Round {
  /** Share of the requests that get a fault, 0 to 1. */
  readonly share: number
  /** The minimum. */
  readonly changes: number
  readonly streams: number
  readonly seed: number
}

/** Processes; without them the workers run in this one. */
export interface Crew {
  readonly program: CrewProgram
  readonly processes: number
  readonly workersEach: number
  /** The interval at which one of them is killed and another one paused, ms. */
  readonly everyMs: number
  /** But not before this number of changes since then. */
  readonly everyChanges: number
}

/** Removes a protection from the workers in this process. */
export interface Without extends SettleOptions, Pick<LoadOptions, 'reads'> {
  readonly store?: (store: StreamStore, place: { port: number; container: string }) => StreamStore
}

export interface Played extends Verdict {
  /** The number of faults, kills and pauses of each kind, including 0. */
  readonly injected: ReadonlyMap<string, number>
  /** The basis of the violations, as lines. */
  readonly evidence: readonly string[]
  /** Errors that must never occur. */
  readonly strange: readonly string[]
}

const WORKERS_HERE = 6
/** No answer, or canceled: an unreliable network must not cause any other error. */
const EXPECTED = new Set(['threw StoreUnreachable', 'threw TimeoutError'])

/** One round: streams are created, workers change them over a bad network, all heals, and the reports are judged. */
export async function play(port: number, round: Round, crew?: Crew, without: Without = {}): Promise<Played> {
  const { seed, share } = round
  const direct = await openAzuriteStore(port)
  const streams = Array.from({ length: round.streams }, (_, at) => `stays/${at}`)
  const shortLived = Array.from({ length: Math.ceil(round.streams / 10) }, (_, at) => `comes-and-goes/${at}`)
  const first = await create(direct, streams)
  const proxy = await startFaultProxy({ target: { port }, seed, faults: badNetwork(share, seed) })
  try {
    const place = { port: proxy.port, container: direct.container, streams, shortLived }
    const about = { ...place, seed, random: seededRandom(seed), changes: round.changes }
    const { lines, ...disturbed } =
      crew === undefined ? await workHere({ ...about, without }) : await runCrew({ ...about, ...crew })
    proxy.heal()
    await proxy.deliverLate()
    const settled = await settle(direct, [...streams, ...shortLived], [...first, ...lines], without)
    const injected = new Map([...kindsOf(proxy.injected), ...Object.entries(disturbed)])
    const verdict = check(settled.calls, settled.streams)
    const evidence = evidenceFor(verdict, settled.calls, settled.streams)
    return { ...verdict, evidence, injected, strange: strangeErrors(settled.calls) }
  } finally {
    await proxy.stop()
    await direct.close()
  }
}

interface WorkHere {
  readonly port: number
  readonly container: string
  readonly streams: readonly string[]
  readonly shortLived: readonly string[]
  readonly seed: number
  readonly changes: number
  readonly without: Without
}

async function workHere({ port, container, streams, shortLived, seed, changes, without }: WorkHere) {
  const lines: HistoryLine[] = []
  const { store: withoutProtection, ...others } = without
  let made = 0
  const workers = Array.from({ length: WORKERS_HERE }, async (_, at) => {
    const own = await openAzurite({ port, container })
    const who = `w${at}`
    await load({
      store: withoutProtection?.(own, { port, container }) ?? own,
      who,
      history: new HistoryWriter(who, line => lines.push(line)),
      random: seededRandom(seed * 1_000 + at),
      streams,
      shortLived,
      open: [],
      isOver: () => made >= changes,
      made: () => void made++,
      crashes: 0.1,
      ...others,
    })
    await own.close()
  })
  await Promise.all(workers)
  return { lines }
}

async function create(store: StreamStore, streams: readonly string[]): Promise<HistoryLine[]> {
  const lines: HistoryLine[] = []
  const history = new HistoryWriter('first', line => lines.push(line))
  await Promise.all(
    streams.map(async stream => {
      const [id, born] = [`first-${stream}`, bornOf(stream)]
      const answer = history.ask(stream, { what: 'change', id, born })
      const create = () => transact(store, stream, creation(born), { commandId: id, by: 'first' })
      const told = await lastWord(store, stream, async () => toldOf(await create()))
      if (told.kind !== 'done') throw new Error(`${stream} could not be made: ${told.kind}`)
      answer(told)
    }),
  )
  return lines
}

function strangeErrors(calls: readonly Call[]): string[] {
  return calls.flatMap(({ told }) => {
    const isStrange = told?.kind === 'not-made' && told.why.startsWith('threw ') && !EXPECTED.has(told.why)
    return isStrange ? [told.why] : []
  })
}
