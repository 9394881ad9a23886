import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact.ts'
import type { EventStore } from '../../src/store/store.ts'
import type { Operation } from '../../src/stream/operation.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { type FaultKind, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { seededRandom } from '../support/faults.ts'

/** `LEASECTL_SEEDS=200-300` runs others; a failure names the seed it came from. */
const [FIRST = 1, LAST = 2] = (process.env.LEASECTL_SEEDS ?? '1-2').split('-').map(Number)
const PROBABILITY = 0.05
const FAULTS: readonly FaultKind[] = [
  'lose-request',
  'lose-answer',
  'late',
  'error-before',
  'error-after',
  'duplicate',
  'truncate',
]
const STREAMS = ['a', 'b', 'c']
const CHANGES = 8
/** Short, so that silence costs little. */
const LIMITS = { leaseMs: 250, bodyMs: 250, pageMs: 250 }

const SEEDS = Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at)

describe.concurrent('over a network that loses, doubles, delays and breaks requests and answers', () => {
  test.each(SEEDS)('what was told of each change is true of the streams (seed %i)', async seed => {
    const { port } = await sharedAzurite()
    const container = `chaos-${randomUUID()}`
    const direct = await openAzuriteStore(port, { container })
    await direct.createContainer()
    const random = seededRandom(seed)
    const after = () => random() < 0.5
    const faults = FAULTS.map(kind => ({ kind, probability: PROBABILITY, after }))
    const proxy = await startFaultProxy({ target: { port }, seed, faults })
    const told = await changeFromThreeStores(proxy, container, random)
    await proxy.deliverLate()
    expect(proxy.injected.length).toBeGreaterThan(10)
    expect(await contradictions(direct, told)).toEqual([])
    await proxy.stop()
    await direct.close()
  })
})

/** What `transact` said of a command: the kind of its outcome, or `threw`. */
type Told = Map<string, { readonly stream: string; readonly kind: string }>

async function changeFromThreeStores(proxy: FaultProxy, container: string, random: () => number): Promise<Told> {
  const told: Told = new Map()
  const workers = [0, 1, 2].map(async worker => {
    const store = await openAzuriteStore(proxy.port, { container, limits: LIMITS })
    const lanes = [0, 1].map(async lane => {
      for (const stream of STREAMS) {
        const root = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: randomUUID() } as const
        await attempt(store, stream, root, `init-${worker}-${lane}-${stream}`, random, told)
      }
      for (let at = 0; at < CHANGES; at++) {
        const id = `set-${worker}-${lane}-${at}`
        const stream = STREAMS[Math.floor(random() * STREAMS.length)] ?? 'a'
        await attempt(store, stream, { op: 'set', event: '00', attributes: { tag: id } }, id, random, told)
      }
    })
    await Promise.all(lanes)
    await store.close()
  })
  await Promise.all(workers)
  return told
}

async function attempt(
  store: EventStore,
  stream: string,
  operation: Operation,
  commandId: string,
  random: () => number,
  told: Told,
): Promise<void> {
  const giveUp = new AbortController()
  const timer = random() < 0.2 ? setTimeout(() => giveUp.abort(), random() * 60) : undefined
  const leaseWaitMs = random() < 0.3 ? 0 : 5_000
  const options = { commandId, by: 'worker', leaseWaitMs, signal: giveUp.signal }
  const kind = await transact(store, stream, operation, options).then(
    outcome => outcome.kind,
    () => 'threw',
  )
  clearTimeout(timer)
  told.set(commandId, { stream, kind })
}

/** Done but not there, there but said not to be, there twice, or a version left out. */
async function contradictions(store: EventStore, told: Told): Promise<string[]> {
  const wrong: string[] = []
  for (const stream of STREAMS) {
    const transactions = (await readStream(store, stream))?.transactions() ?? []
    transactions.forEach(({ version }, at) => {
      if (version !== at + 1) wrong.push(`${stream}: version ${version} after ${at}`)
    })
    for (const [id, { kind }] of [...told].filter(([, command]) => command.stream === stream)) {
      const count = transactions.filter(({ commandId }) => commandId === id).length
      const allowed = kind === 'done' ? [1] : kind === 'unknown' ? [0, 1] : [0]
      if (!allowed.includes(count)) wrong.push(`${stream}: ${id} was said to be ${kind} and is there ${count} times`)
    }
  }
  return wrong
}
