import { randomUUID } from 'node:crypto'
import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import { judge, type Told, type Verdict } from './judgement.ts'
import type { Lie } from './lies.ts'
import type { VirtualTime } from './virtual-time.ts'

const CLAIM_MS = 10_000
const EVENT = '01.00'
/** Before any claim each has read the time this often, at this interval, ms: in each part of a second. */
const [LOOKS, LOOK_MS] = [5, 200]
/** An answer has whole seconds: with one answer, or a clock with a wrong rate, the error is below that, ms. */
const ANSWER_MS = 1_000

/** A machine with a wrong clock and its own store. */
export interface Machine {
  readonly lie: Lie
  readonly store: StreamStore
}

/** One holds a claim, another wants it as soon as it ends. */
interface Bout {
  readonly name: string
  readonly stream: string
  readonly holder: StreamStore
  readonly taker: StreamStore
  /** The maximum difference between the two in the known time, ms. */
  readonly slackMs: number
}

interface Outcome extends Told {
  readonly bout: Bout
}

export interface ShortVerdict extends Verdict {
  /** Expired claims that could not be taken. */
  readonly late: readonly string[]
  /** The number of claims requested before their end, and answered by a decision. */
  readonly tries: number
}

/**
 * Claims of seconds, in virtual time: each machine holds one that a true one wants, and wants one that a true one holds.
 * It is requested as late before its end, and as soon after it, as the precision of the time allows.
 */
export async function letClaim(
  time: VirtualTime,
  truth: StreamStore,
  machines: readonly Machine[],
): Promise<ShortVerdict> {
  const fromMs = time.wallMs() - ANSWER_MS
  const bouts = machines.flatMap(machine => boutsOf(machine, truth))
  const all = (act: (bout: Bout) => Promise<Outcome>) => Promise.all(bouts.map(act))
  const init = { op: 'init', root: { name: 'Start' }, forks: [{ name: 'A' }], hold: false } as const
  const begun = await all(bout => changed(bout, truth, { ...init, born: randomUUID() }))
  await look(time, [truth, ...machines.map(({ store }) => store)])
  const claimed = await all(bout => changed(bout, bout.holder, start('holder')))
  await time.advance(CLAIM_MS / 2)
  await all(bout => changed(bout, bout.holder, { op: 'touch', event: EVENT, owner: 'holder', claimMs: CLAIM_MS }))
  const endMs = time.wallMs() + CLAIM_MS
  const before = await take(time, bouts, ({ slackMs }) => endMs - slackMs)
  const after = await take(time, bouts, ({ slackMs }) => endMs + slackMs)
  const told = [...begun, ...claimed, ...before, ...after]
  return {
    ...(await judged(bouts, told, truth, { fromMs, toMs: time.wallMs() + ANSWER_MS })),
    early: before.filter(({ kind }) => kind === 'done').map(({ bout }) => bout.name),
    late: after.filter(({ kind }) => kind !== 'done').map(({ bout }) => bout.name),
    tries: before.filter(({ kind }) => kind === 'done' || kind === 'claimed').length,
  }
}

async function judged(
  bouts: readonly Bout[],
  told: readonly Outcome[],
  store: StreamStore,
  truth: { readonly fromMs: number; readonly toMs: number },
): Promise<Omit<Verdict, 'early'>> {
  const judgeOne = async (bout: Bout) => {
    const view = await readStream(store, bout.stream)
    if (view === undefined) throw new Error('the stream is gone')
    const own = told.filter(outcome => outcome.bout === bout)
    return judge(view, own, truth)
  }
  const verdicts = await Promise.all(bouts.map(judgeOne))
  return {
    lost: verdicts.flatMap(({ lost }) => lost),
    untimely: verdicts.flatMap(({ untimely }) => untimely),
    changes: verdicts.reduce((sum, { changes }) => sum + changes, 0),
  }
}

function boutsOf({ lie, store }: Machine, truth: StreamStore): Bout[] {
  // The time of a clock with a constant offset becomes more precise with each answer.
  const slackMs = lie.rate === undefined ? 2 * LOOK_MS : ANSWER_MS + LOOK_MS
  return [
    { name: `held by one ${lie.name}`, stream: randomUUID(), holder: store, taker: truth, slackMs },
    { name: `taken by one ${lie.name}`, stream: randomUUID(), holder: truth, taker: store, slackMs },
  ]
}

async function look(time: VirtualTime, stores: readonly StreamStore[]): Promise<void> {
  for (let times = 0; times < LOOKS; times++) {
    await time.advance(LOOK_MS)
    await Promise.all(stores.map(store => store.read('nothing')))
  }
}

/** Lets each taker try at its time. */
async function take(time: VirtualTime, bouts: readonly Bout[], atMs: (bout: Bout) => number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const ms of new Set(bouts.map(atMs).sort((a, b) => a - b))) {
    await time.goTo(ms)
    const now = bouts.filter(bout => atMs(bout) === ms)
    outcomes.push(...(await Promise.all(now.map(bout => changed(bout, bout.taker, start('taker'))))))
  }
  return outcomes
}

function start(owner: string): Operation {
  return { op: 'start', event: EVENT, owner, claimMs: CLAIM_MS }
}

async function changed(bout: Bout, store: StreamStore, operation: Operation): Promise<Outcome> {
  const commandId = randomUUID()
  const outcome = await transact(store, bout.stream, operation, { commandId, by: 'writer', leaseWaitMs: 300_000 })
  const kind = outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind
  return { bout, commandId: operation.op === 'touch' ? '' : commandId, kind }
}
