import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, problem, UNREADABLE_HINT } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor, usualIntervalMs } from '../../cli/store.ts'
import { keepHeapSmall } from '../../cli/v8-flags.ts'
import { WaitLimit } from '../../cli/wait-limit.ts'
import { countText, span } from '../../formats/terminal/numbers.ts'
import { type AwaitedStream, type WaitItem, type WaitTarget, waitFor } from '../../ops/wait.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { WaitCommandOptions } from './options.ts'
import { missingNames, noMatchProblem, openWaitPrinter, resultOf, type WaitCounts } from './output.ts'

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
  const waiting = openWaiting(options, output, store, runtime)
  try {
    const fatal = await waiting.follow(items, deadline)
    if (fatal !== undefined) return fatal
  } finally {
    deadline.clear()
  }
  await waiting.end()
  return runtime.signal.aborted ? undefined : resultOf(waiting.counts, target, options, store.nowMs())
}

/** Counts and reports the streams as they end. */
function openWaiting(options: WaitCommandOptions, output: Output, store: StreamStore, runtime: Runtime) {
  const { any = false, failFast = false } = options
  const counts = { total: 0, met: 0, otherwise: [] as AwaitedStream[], open: new Map() as WaitCounts['open'] }
  const printer = openWaitPrinter(options.output, output, () => store.nowMs())
  const progress = openProgressLine(options, runtime)
  const startedMs = runtime.nowMs()
  const waitedMs = () => runtime.nowMs() - startedMs
  const isEnough = () => (any && counts.met > 0) || (failFast && counts.otherwise.length > 0)
  const progressText = () => {
    const { total, open } = counts
    const what = total === 0 ? 'a stream to match' : `${countText(open.size)} of ${countText(total)}`
    return `waiting for ${what}, ${span(waitedMs())}`
  }
  const report = async (item: Exclude<WaitItem, { kind: 'polled' | 'missing' | 'no-match' }>): Promise<void> => {
    switch (item.kind) {
      case 'ended':
        if (item.stream.state === 'met') counts.met++
        else counts.otherwise.push(item.stream)
        return printer.ended(item.stream, waitedMs())
      case 'unreadable': {
        const what = problem(item.code, item.message, { stream: item.stream, hint: hintOf(item) })
        return tellProblem(what, options, runtime)
      }
      case 'interrupted': {
        const why = item.cause instanceof Error ? item.cause.message : String(item.cause)
        return output.say(`-- connection lost: ${visibleText(why)}; trying again`)
      }
      case 'resumed':
        return output.say('-- connected again')
      default:
        return item satisfies never
    }
  }
  return {
    counts,
    /** Follows the streams until the result is known. Returns why waiting is pointless, if it is. */
    async follow(items: AsyncIterable<WaitItem>, deadline: WaitLimit): Promise<Problem | undefined> {
      for await (const item of items) {
        if (item.kind === 'polled') {
          counts.total = item.total
          counts.open = item.open
          if (isEnough() || deadline.passed) break
          if (item.total > 0 && item.open.size === 0) continue
          deadline.cutPolls()
          await progress.show(progressText())
        } else {
          await progress.clear()
          if (item.kind === 'missing') return missingNames(item.names)
          if (item.kind === 'no-match') return noMatchProblem()
          await report(item)
        }
      }
      await progress.clear()
      return undefined
    },
    /** Lists the streams that did not meet the target. For a single stream the error does that. */
    async end(): Promise<void> {
      const listsOpen = runtime.signal.aborted || (counts.total > 1 && !(any && counts.met > 0))
      await printer.end(counts, waitedMs(), listsOpen)
    },
  }
}

function hintOf({ code, hint }: Extract<WaitItem, { kind: 'unreadable' }>): string {
  if (code === 'bad-name') return hint ?? ''
  return `Waiting continues, as its writer may repair it. ${hint ?? UNREADABLE_HINT}`
}
