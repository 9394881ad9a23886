import type { Output } from '../../cli/output.ts'
import { type Problem, problem, UNREADABLE_HINT } from '../../cli/problem.ts'
import { tellProblem } from '../../cli/problem-text.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { missingProblems } from '../../cli/selection/collect.ts'
import { sinceMsOf } from '../../cli/values.ts'
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
  const sinceMs = options.since && sinceMsOf(options.since, runtime.nowMs())
  const notices = openNotices(options, output, runtime)
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
      if (item.kind === 'polled' && !options.follow && shown === 0) {
        await output.say(item.streams === 0 ? 'no stream matches' : 'no transactions')
      }
    }
  }
  await printer.flush()
  return runtime.signal.aborted ? undefined : notices.end()
}

/** Prints notices on stderr beside the transactions. */
function openNotices(options: TailOptions, output: Output, runtime: Runtime) {
  let lostAtMs = 0
  let isFirst = true
  /** In total, and since the last poll. */
  let unreadable = 0
  let unreadableNow = 0
  let streams = 0
  const afterPoll = async (count: number) => {
    const more = unreadableNow - MOST_NAMED
    if (more > 0) await output.say(`-- ${more} more streams cannot be read`)
    if (isFirst && count === 0 && options.follow) {
      await output.say('-- no stream matches yet; waiting for one (Ctrl-C to stop)')
    }
    streams = count
    unreadableNow = 0
    isFirst = false
  }
  return {
    async report(item: Exclude<FollowManyItem, { kind: 'transaction' | 'missing' }>): Promise<void> {
      if (item.kind === 'polled') return afterPoll(item.streams)
      if (item.kind === 'unreadable') {
        const { stream, code, message, hint = UNREADABLE_HINT } = item
        unreadable++
        if (++unreadableNow > MOST_NAMED) return
        return tellProblem(problem(code, message, { stream, hint }), options, runtime)
      }
      if (item.kind === 'interrupted') lostAtMs = runtime.nowMs()
      for (const notice of noticesOfMany(item, runtime.nowMs() - lostAtMs)) await output.say(`-- ${notice}`)
    },
    /** The problem if some streams could not be read. */
    end(): Problem | undefined {
      if (unreadable === 0) return undefined
      return problem('batch-incomplete', `${unreadable} of ${streams} streams could not be read`, {
        hint: 'The transactions of all other streams were shown.',
      })
    },
  }
}

const MOST_NAMED = 10
