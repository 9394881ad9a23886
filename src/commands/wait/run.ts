import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import { openProgressLine, type ProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor, usualIntervalMs } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { countText, span } from '../../formats/terminal/numbers.ts'
import { type AwaitedStream, type WaitItem, type WaitTarget, waitFor } from '../../ops/wait.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { WaitCommandOptions } from './options.ts'
import { missingNames, noMatchProblem, openWaitPrinter, resultOf, type WaitCounts, type WaitPrinter } from './output.ts'

const SUCCESS: WaitTarget = { kind: 'stream', end: 'success' }

/** Waits until streams have ended as required, can no longer do so, or the time limit passes. */
export async function waitForStreams(options: WaitCommandOptions, runtime: Runtime): Promise<Problem | undefined> {
  const selection = await requireSelection(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (selection.kind !== 'names') await keepHeapSmall()
  const deadline = new WaitLimit(options.within)
  const target = options.for ?? SUCCESS
  const items = waitFor(store, selection, target, {
    intervalMs: options.interval ?? usualIntervalMs(store),
    mayAppear: options.mayAppear === true,
    signal: AbortSignal.any([runtime.signal, deadline.signal]),
  })
  const waiting = new Waiting(options, output, store, runtime)
  try {
    const fatal = await waiting.follow(items, deadline)
    if (fatal !== undefined) return fatal
  } finally {
    deadline.clear()
  }
  await waiting.end()
  return runtime.signal.aborted ? undefined : resultOf(waiting, target, options, store.nowMs())
}

/** Counts and reports the streams as they end. */
class Waiting implements WaitCounts {
  total = 0
  met = 0
  readonly otherwise: AwaitedStream[] = []
  open: ReadonlyMap<string, AwaitedStream> = new Map()
  readonly #options: WaitCommandOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #printer: WaitPrinter
  readonly #progress: ProgressLine
  readonly #startedMs: number

  constructor(options: WaitCommandOptions, output: Output, store: StreamStore, runtime: Runtime) {
    this.#options = options
    this.#output = output
    this.#runtime = runtime
    this.#printer = openWaitPrinter(options.output, output, () => store.nowMs())
    this.#progress = openProgressLine(options, runtime)
    this.#startedMs = runtime.nowMs()
  }

  /** Follows the streams until the result is known. Returns why waiting is pointless, if it is. */
  async follow(items: AsyncIterable<WaitItem>, deadline: WaitLimit): Promise<Problem | undefined> {
    for await (const item of items) {
      if (item.kind === 'looked') {
        this.total = item.total
        this.open = item.open
        if (this.#isEnough() || deadline.passed) break
        if (item.total > 0 && item.open.size === 0) continue
        deadline.cutPolls()
        await this.#progress.show(this.#progressText())
      } else {
        await this.#progress.clear()
        if (item.kind === 'missing') return missingNames(item.names)
        if (item.kind === 'no-match') return noMatchProblem()
        await this.#report(item)
      }
    }
    await this.#progress.clear()
    return undefined
  }

  /** Lists the streams that did not meet the target. For a single stream the error does that. */
  async end(): Promise<void> {
    const { any } = this.#options
    const report = this.#runtime.signal.aborted || (this.total > 1 && !(any && this.met > 0))
    await this.#printer.end(this, this.#waitedMs(), report)
  }

  async #report(item: Exclude<WaitItem, { kind: 'looked' | 'missing' | 'no-match' }>): Promise<void> {
    switch (item.kind) {
      case 'ended':
        if (item.stream.state === 'met') this.met++
        else this.otherwise.push(item.stream)
        return this.#printer.ended(item.stream, this.#waitedMs())
      case 'unreadable': {
        const what = problem(item.code, item.message, { stream: item.stream, hint: hintOf(item) })
        return tellProblem(what, this.#options, this.#runtime)
      }
      case 'interrupted': {
        const why = item.cause instanceof Error ? item.cause.message : String(item.cause)
        return this.#output.say(`-- connection lost: ${visibleText(why)}; trying again`)
      }
      case 'resumed':
        return this.#output.say('-- connected again')
      default:
        return item satisfies never
    }
  }

  #isEnough(): boolean {
    const { any, failFast } = this.#options
    return (any === true && this.met > 0) || (failFast === true && this.otherwise.length > 0)
  }

  #progressText(): string {
    if (this.total === 0) return `waiting for a stream to match, ${span(this.#waitedMs())}`
    return `waiting for ${countText(this.open.size)} of ${countText(this.total)}, ${span(this.#waitedMs())}`
  }

  #waitedMs(): number {
    return this.#runtime.nowMs() - this.#startedMs
  }
}

function hintOf({ code, hint }: Extract<WaitItem, { kind: 'unreadable' }>): string {
  if (code === 'bad-name') return hint ?? ''
  return `Waiting continues, as its writer may repair it. ${hint ?? 'show -o xml prints it as stored.'}`
}

/** The longest delay of a Node timer, ms. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A time limit for repeated polls. The first poll may exceed it; later ones are cut short. */
export class WaitLimit {
  readonly #abort = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #passed = false
  #cuts = false

  /** @param ms from now; 0 has passed already, `undefined` is no limit */
  constructor(ms: number | undefined) {
    if (ms === 0) this.#pass()
    else if (ms !== undefined) this.#arm(ms)
  }

  /** Aborts when the limit passes, but not before `cutPolls` was called. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get passed(): boolean {
    return this.#passed
  }

  /** From now on the limit cuts polls, and the pauses between them, short. */
  cutPolls(): void {
    this.#cuts = true
    if (this.#passed) this.#abort.abort()
  }

  clear(): void {
    clearTimeout(this.#timer)
  }

  #arm(ms: number): void {
    const part = Math.min(ms, LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => (ms > part ? this.#arm(ms - part) : this.#pass()), part)
  }

  #pass(): void {
    this.#passed = true
    if (this.#cuts) this.#abort.abort()
  }
}
