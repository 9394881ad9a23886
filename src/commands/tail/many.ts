import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { missingProblems } from '../../cli/selection/collect.ts'
import { atMs } from '../../cli/time-points.ts'
import { type FollowManyItem, followMany } from '../../ops/follow/follow-many.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { DEFAULT_INTERVAL_MS, linesOf, type TailOptions } from './options.ts'
import { noticesOfMany, openPrinter } from './output.ts'

/** Prints the latest transactions of several streams in order of time, and with `-f` new ones as they come. */
export async function tailMany(
  selection: Selection,
  options: TailOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const printer = openPrinter(options, output, store, true)
  const sinceMs = options.since && atMs(options.since, runtime.nowMs())
  const notices = new Notices(options, output, runtime)
  let shown = 0
  for await (const item of followMany(store, selection, {
    past: { latest: linesOf(options), ...(sinceMs === undefined ? {} : { sinceMs }) },
    keeps: printer.wants,
    signal: runtime.signal,
    ...(options.follow ? { intervalMs: options.interval ?? DEFAULT_INTERVAL_MS } : {}),
  })) {
    if (item.kind === 'missing') return missingProblems(item.names, MOST_NAMED)
    if (item.kind === 'transaction') {
      shown++
      await printer.print(item.stream, item.tx)
      // Items already in memory come without a request to the store, so only this check ends the loop.
      if (runtime.signal.aborted) break
    } else {
      if (item.kind !== 'unreadable') await printer.flush()
      await notices.report(item)
      if (item.kind === 'looked' && !options.follow && shown === 0) {
        await output.say(item.streams === 0 ? 'no stream matches' : 'no transactions')
      }
    }
  }
  await printer.flush()
  return runtime.signal.aborted ? undefined : notices.end()
}

/** Notices on stderr beside the transactions. */
class Notices {
  readonly #options: TailOptions
  readonly #output: Output
  readonly #runtime: Runtime
  #lostAtMs = 0
  #isFirst = true
  /** In total, and since the last poll. */
  #unreadable = 0
  #unreadableNow = 0
  #streams = 0

  constructor(options: TailOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
  }

  async report(item: Exclude<FollowManyItem, { kind: 'transaction' | 'missing' }>): Promise<void> {
    if (item.kind === 'unreadable') return this.#reportUnreadable(item)
    if (item.kind === 'looked') return this.#afterPoll(item.streams)
    if (item.kind === 'interrupted') this.#lostAtMs = this.#runtime.nowMs()
    for (const sentence of noticesOfMany(item, this.#runtime.nowMs() - this.#lostAtMs)) {
      await this.#output.say(`-- ${sentence}`)
    }
  }

  /** The problem if some streams could not be read. */
  end(): Problem | undefined {
    if (this.#unreadable === 0) return undefined
    return problem('batch-incomplete', `${this.#unreadable} of ${this.#streams} streams could not be read`, {
      hint: 'The transactions of all other streams were shown.',
    })
  }

  async #reportUnreadable({
    stream,
    code,
    message,
    hint = 'show -o xml prints it as stored.',
  }: Extract<FollowManyItem, { kind: 'unreadable' }>): Promise<void> {
    this.#unreadable++
    this.#unreadableNow++
    if (this.#unreadableNow > MOST_NAMED) return
    await tellProblem(problem(code, message, { stream, hint }), this.#options, this.#runtime)
  }

  async #afterPoll(streams: number): Promise<void> {
    const more = this.#unreadableNow - MOST_NAMED
    if (more > 0) await this.#output.say(`-- ${more} more streams cannot be read`)
    if (this.#isFirst && streams === 0 && this.#options.follow) {
      await this.#output.say('-- no stream matches yet; waiting for one (Ctrl-C to stop)')
    }
    this.#streams = streams
    this.#unreadableNow = 0
    this.#isFirst = false
  }
}

const MOST_NAMED = 10
