import type { StreamView } from '../../../src/ops/read-stream.ts'
import { fenceOf } from '../../../src/stream/event.ts'
import type { WorkerWord } from './orders.ts'

/** The known facts of a paused worker, and of the one that acted meanwhile. */
export interface Evidence {
  readonly stream: StreamView
  /** The event of the paused worker. */
  readonly event: string
  /** The result of the paused worker. */
  readonly told: WorkerWord
  /** The fence with which another took the event before the paused one continued; `undefined` if it had ended before. */
  readonly takenUnder: number | undefined
  /** Changes of the other that were reported to it as done: command ids and versions. */
  readonly acknowledged: ReadonlyMap<string, number>
}

export interface Verdict {
  /** Accepted writes of the paused worker after another had taken its event. */
  readonly staleWrites: number
  /** All violations, a line each. */
  readonly complaints: readonly string[]
}

/** Judges by the journal alone; how the writes were prevented is unknown to it. */
export function judge(evidence: Evidence): Verdict {
  const { stream, event, takenUnder } = evidence
  const transactions = stream.transactions()
  const ofStopped = transactions.filter(({ by, op }) => by === 'paused' && op !== 'start')
  const staleWrites = takenUnder === undefined ? 0 : ofStopped.length + (fenceIs(evidence) ? 0 : 1)
  const isReported = evidence.told.kind === 'reported'
  return {
    staleWrites,
    complaints: [
      ...(staleWrites > 0 ? [`${staleWrites} stale writes were accepted`] : []),
      ...transactions.flatMap(({ version }, at) => (version === at + 1 ? [] : [`version ${version} after ${at}`])),
      ...transactions.flatMap(({ at }, n) =>
        at >= (transactions[n - 1]?.at ?? '') ? [] : [`time goes back to ${at}`],
      ),
      ...lostOrDoubled(evidence),
      ...(isReported === (ofStopped.length === 1)
        ? []
        : [`it told ${evidence.told.kind}, ${ofStopped.length} ends of ${event}`]),
      ...(isReported === (takenUnder === undefined)
        ? []
        : [`it told ${evidence.told.kind}, taken under ${takenUnder}`]),
    ],
  }
}

function fenceIs({ stream, event, takenUnder }: Evidence): boolean {
  const found = stream.stream.find(event)
  return found !== undefined && fenceOf(found) === takenUnder
}

function lostOrDoubled({ stream, acknowledged }: Evidence): string[] {
  return [...acknowledged].flatMap(([id, version]) => {
    const found = stream.transactions().filter(({ commandId }) => commandId === id)
    const [first, ...more] = found.map(each => each.version)
    return first === version && more.length === 0
      ? []
      : [`${id} was version ${version} and is ${first ?? 'lost'} ${more}`]
  })
}
