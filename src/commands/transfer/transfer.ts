import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import { CommandFailed, type Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { readAhead } from '../../util/concurrency.ts'
import { FaultStreak } from '../batch/fault-streak.ts'
import { type Transferred, undone } from './outcome.ts'
import type { TransferReport } from './report.ts'

const DEFAULT_CONCURRENCY = 8

export interface Transfer<Item> {
  readonly items: AsyncIterable<Item> | Iterable<Item>
  readonly nameOf: (item: Item) => string
  /** Done for several items at a time. Where order counts it returns what is left to do, in their order and one at a time. */
  readonly work: (item: Item) => Promise<Transferred | Finish>
  /** How many at a time; 8 without it. */
  readonly concurrency: number | undefined
}

type Finish = () => Promise<readonly Transferred[]>

/**
 * The same for many streams, one outcome each. The first Ctrl-C lets what is in flight finish. A disk that is full or a
 * store that is gone ends it: then the reason is returned, `undefined` otherwise.
 */
export async function transfer<Item>(
  { items, nameOf, work, concurrency = DEFAULT_CONCURRENCY }: Transfer<Item>,
  report: Pick<TransferReport, 'add'>,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const gate = new Gate(runtime)
  const begin = async (item: Item): Promise<Transferred | Finish> => {
    try {
      return await work(item)
    } catch (error) {
      return faulted(nameOf(item), error, runtime)
    }
  }
  for await (const made of readAhead(gate.pass(items), concurrency, begin)) {
    for (const outcome of typeof made === 'function' ? await made() : [made]) {
      gate.see(outcome)
      await report.add(outcome)
    }
  }
  return gate.reason
}

/** A fault of one stream. What nobody foresaw is thrown on. */
function faulted(stream: string, error: unknown, runtime: Runtime): Transferred {
  if (!isForeseen(error)) throw error
  const why = errorProblem(error, runtime)
  return { ...undone('failed', stream, why), stop: why.code === 'store-full' || why.code === 'container-missing' }
}

function isForeseen(error: unknown): boolean {
  return error instanceof LeasectlError || error instanceof CommandFailed
}

/** Lets items through until there is a reason not to. */
class Gate {
  reason: Problem | undefined
  readonly #runtime: Runtime
  readonly #faults = new FaultStreak(10)

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  see({ problem, stop }: Transferred): void {
    const isTooLong = this.#faults.isTooLong(problem)
    if (problem === undefined || !(stop || isTooLong)) return
    this.reason ??= { ...problem, hint: problem.hint ?? 'The other streams were not tried.' }
  }

  async *pass<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
    const { signal } = this.#runtime
    let any = false
    try {
      for await (const item of items) {
        if (this.reason !== undefined) return
        signal.throwIfAborted()
        any = true
        yield item
      }
    } catch (error) {
      // Those before it are under way or done: they have to be told.
      if (!signal.aborted && !(any && isForeseen(error))) throw error
      const why = signal.aborted ? interruptedProblem(signal) : errorProblem(error, this.#runtime)
      this.reason ??= { ...why, hint: why.hint ?? 'What was done stays done; repeating the command is safe.' }
    }
  }
}
