import { randomUUID } from 'node:crypto'
import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { judge, type Told, type Verdict } from './judgement.ts'

const STREAM = 'shared'
/** Longer than any test, ms: a claim taken meanwhile is too early. */
const CLAIM_MS = 900_000
/** Far more than any answer takes, and less than the smallest of the large errors, ms. */
const TOLERANCE_MS = 600_000

/**
 * Writers of one stream, each with a store of its own: each claims an event, sends heartbeats, changes the stream, tries
 * to take its neighbour's event, and ends its own event.
 *
 * @param isTrueTime the store has a clock of its own, so all times have to be near the true one
 */
export async function letWrite(stores: readonly StreamStore[], turns: number, isTrueTime: boolean): Promise<Verdict> {
  const [first] = stores
  if (first === undefined) throw new Error('no stores')
  const startedMs = Date.now()
  const told: Told[] = []
  const forks = stores.map(() => ({ name: 'A' }))
  const init = { op: 'init', root: { name: 'Start' }, forks, hold: false, born: randomUUID() } as const
  // The one with the largest error creates the stream.
  told.push(await changed(stores.at(-4) ?? first, init))
  const all = async (step: (store: StreamStore, at: number) => Promise<Told>) => {
    told.push(...(await Promise.all(stores.map(step))))
  }
  const start = (event: string) => ({ op: 'start', event, owner: 'worker', claimMs: CLAIM_MS }) as const
  await all((store, at) => changed(store, start(idAt(at))))
  const fences = await fencesOf(first)
  for (let turn = 0; turn < turns; turn++) {
    await all((store, at) => changed(store, { op: 'set', event: '00', attributes: { tag: `${at}-${turn}` } }))
    await all((store, at) =>
      changed(store, { op: 'touch', event: idAt(at), fence: fences[at] ?? 0, claimMs: CLAIM_MS }),
    )
    await all((store, at) => changed(store, start(idAt((at + turn + 1) % stores.length)), true))
  }
  await all((store, at) => changed(store, { op: 'complete', event: idAt(at), fence: fences[at] ?? 0 }))
  const view = await readStream(first, STREAM)
  if (view === undefined) throw new Error('the stream is gone')
  const truth = { fromMs: startedMs - TOLERANCE_MS, toMs: Date.now() + TOLERANCE_MS }
  return judge(view, told, isTrueTime ? truth : undefined)
}

const idAt = (at: number): string => `${String(at + 1).padStart(2, '0')}.00`

async function fencesOf(store: StreamStore): Promise<readonly number[]> {
  const view = await readStream(store, STREAM)
  return view?.document.events.slice(1).map(({ lc }) => Number(lc.fence)) ?? []
}

async function changed(store: StreamStore, operation: Operation, isAnothers = false): Promise<Told> {
  const commandId = randomUUID()
  const outcome = await transact(store, STREAM, operation, { commandId, by: 'writer', leaseWaitMs: 300_000 })
  const isDone = outcome.kind === 'done' && outcome.result.outcome === 'done'
  const leavesEntry = operation.op !== 'touch'
  return {
    commandId: leavesEntry ? commandId : '',
    kind: outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind,
    tookAnothers: isAnothers && isDone,
  }
}
