import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import { CommandFailed, type Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { readAhead } from '../../util/concurrency.ts'
import { FaultStreak } from '../batch/fault-streak.ts'
import { problemOutcome, type TransferOutcome } from './outcome.ts'
import { ANY_HINT, type TransferReport } from './report.ts'

const DEFAULT_CONCURRENCY = 8

export interface Transfer<Item> {
  readonly items: AsyncIterable<Item> | Iterable<Item>
  readonly nameOf: (item: Item) => string
  /** Runs for several items at a time. If order matters, it returns a finish, which runs in item order, one at a time. */
  readonly work: (item: Item) => Promise<TransferOutcome | Finish>
  /** Items at a time; default 8. */
  readonly concurrency: number | undefined
}

type Finish = () => Promise<readonly TransferOutcome[]>

/**
 * Does the same work for many streams and reports one outcome for each. After the first Ctrl-C, work in flight finishes.
 * A full disk or a missing store ends the transfer: then the reason is returned, otherwise `undefined`.
 */
export async function transfer<Item>(
  { items, nameOf, work, concurrency = DEFAULT_CONCURRENCY }: Transfer<Item>,
  report: Pick<TransferReport, 'add'>,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const gate = new Gate(runtime)
  const start = async (item: Item): Promise<TransferOutcome | Finish> => {
    try {
      return await work(item)
    } catch (error) {
      return faultOutcome(nameOf(item), error, runtime)
    }
  }
  for await (const result of readAhead(gate.pass(items), concurrency, start)) {
    for (const outcome of typeof result === 'function' ? await result() : [result]) {
      gate.record(outcome)
      await report.add(outcome)
    }
  }
  return gate.reason
}

/** The fault of one stream. @throws errors that are not expected faults */
function faultOutcome(stream: string, error: unknown, runtime: Runtime): TransferOutcome {
  if (!isExpected(error)) throw error
  const why = errorProblem(error, runtime)
  return {
    ...problemOutcome('failed', stream, why),
    stop: why.code === 'store-full' || why.code === 'container-missing',
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof LeasectlError || error instanceof CommandFailed
}

/** Passes items on until there is a reason to stop. */
class Gate {
  reason: Problem | undefined
  readonly #runtime: Runtime
  readonly #faults = new FaultStreak(10)

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  record({ problem, stop }: TransferOutcome): void {
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
      // Earlier items are in flight or done, and their outcomes must be reported.
      if (!signal.aborted && !(any && isExpected(error))) throw error
      const why = signal.aborted ? interruptedProblem(signal) : errorProblem(error, this.#runtime)
      this.reason ??= { ...why, hint: why.hint ?? ANY_HINT }
    }
  }
}
