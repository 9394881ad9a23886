import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Output } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { atMs } from '../../cli/values.ts'
import { type FollowManyItem, followMany } from '../../ops/follow/follow-many.ts'
import type { Selection } from '../../ops/selection.ts'
import type { StreamStore } from '../../store/store.ts'
import { DEFAULT_INTERVAL_MS, linesOf, type TailOptions } from './options.ts'
import { openPrinter, sentencesOfMany } from './output.ts'

/** The last transactions of several streams in order of time, and with `-f` those to come. */
export async function tailMany(
  selection: Selection,
  options: TailOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const printer = openPrinter(options, output, store, true)
  const sinceMs = options.since && atMs(options.since, runtime.nowMs())
  const talk = new Talk(options, output, runtime)
  let shown = 0
  for await (const item of followMany(store, selection, {
    past: { latest: linesOf(options), ...(sinceMs === undefined ? {} : { sinceMs }) },
    keeps: printer.wants,
    signal: runtime.signal,
    ...(options.follow ? { intervalMs: options.interval ?? DEFAULT_INTERVAL_MS } : {}),
  })) {
    if (item.kind === 'missing') return missingProblems(item.names)
    if (item.kind === 'transaction') {
      shown++
      await printer.print(item.stream, item.tx)
      // what is held in memory is printed without asking the store: nothing else would end it
      if (runtime.signal.aborted) break
    } else {
      if (item.kind !== 'unreadable') await printer.flush()
      await talk.tell(item)
      if (item.kind === 'looked' && !options.follow && shown === 0) {
        await output.say(item.streams === 0 ? 'no stream matches' : 'no transactions')
      }
    }
  }
  await printer.flush()
  return runtime.signal.aborted ? undefined : talk.end()
}

/** What is said on stderr meanwhile. */
class Talk {
  readonly #options: TailOptions
  readonly #output: Output
  readonly #runtime: Runtime
  #lostAtMs = 0
  #isFirst = true
  /** In all, and in this look. */
  #unreadable = 0
  #unreadableNow = 0
  #streams = 0

  constructor(options: TailOptions, output: Output, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
  }

  async tell(item: Exclude<FollowManyItem, { kind: 'transaction' | 'missing' }>): Promise<void> {
    if (item.kind === 'unreadable') return this.#tellUnreadable(item)
    if (item.kind === 'looked') return this.#looked(item.streams)
    if (item.kind === 'interrupted') this.#lostAtMs = this.#runtime.nowMs()
    for (const sentence of sentencesOfMany(item, this.#runtime.nowMs() - this.#lostAtMs)) {
      await this.#output.say(`-- ${sentence}`)
    }
  }

  /** Why the command did not do all of what it was asked for. */
  end(): Problem | undefined {
    if (this.#unreadable === 0) return undefined
    return problem('batch-incomplete', `${this.#unreadable} of ${this.#streams} streams could not be read`, {
      hint: 'The transactions of the others were all shown.',
    })
  }

  async #tellUnreadable({
    stream,
    code,
    message,
    hint = 'show -o xml prints it as it is stored.',
  }: Extract<FollowManyItem, { kind: 'unreadable' }>): Promise<void> {
    this.#unreadable++
    this.#unreadableNow++
    if (this.#unreadableNow > MOST_NAMED) return
    await tellProblem(problem(code, message, { stream, hint }), this.#options, this.#runtime)
  }

  async #looked(streams: number): Promise<void> {
    const more = this.#unreadableNow - MOST_NAMED
    if (more > 0) await this.#output.say(`-- ${more} more streams cannot be read`)
    if (this.#isFirst && streams === 0 && this.#options.follow) {
      await this.#output.say('-- no stream matches so far; waiting for one (Ctrl-C ends)')
    }
    this.#streams = streams
    this.#unreadableNow = 0
    this.#isFirst = false
  }
}

const MOST_NAMED = 10

/** Of names that were given each has to exist, and all that do not are told. */
function missingProblems([first = '', ...others]: readonly string[]): Problem {
  const facts = others.slice(0, MOST_NAMED).map(name => ['also', missingProblem(name).message] as const)
  const more = others.length - facts.length
  return {
    ...missingProblem(first),
    ...(others.length === 0 ? {} : { facts: more > 0 ? [...facts, ['also', `${more} more`] as const] : facts }),
  }
}
