import { commandLine } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { watch } from '../../cli/output/redraw.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { missingFile, openStoreFor, usualIntervalMs } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { watchdogJson, watchdogStatusText } from '../../formats/watchdog-status.ts'
import { readWatchdogState, WATCHDOG_STATE } from '../../ops/watchdog-state/parse.ts'
import { livenessOf, shardCounts, type WatchdogState } from '../../ops/watchdog-state/state.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'

export interface WatchdogStatusOptions extends GlobalOptions {
  readonly watch?: boolean
}

/** Shows the states that the watchdogs of the store last wrote: reads one small document. */
export async function watchdogStatus(options: WatchdogStatusOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.watch) checkWatch(options, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  if (options.watch) {
    await watchStatus(store, output, runtime)
    return undefined
  }
  const state = await readWatchdogState(store, runtime.signal)
  const nowMs = store.nowMs()
  if (options.output === 'json') {
    const items = state.watchdogs.map(entry => watchdogJson(entry, nowMs))
    await output.text(jsonDocument({ items, damaged: state.damaged }))
  } else await output.lines(linesOf(state, store, output, output.width))
  for (const sentence of sentences(state, store, runtime)) await output.say(sentence)
  return undefined
}

function checkWatch({ output = 'table' }: WatchdogStatusOptions, { stdout, env }: Runtime): void {
  const hint = 'Run watchdog status again in a loop.'
  if (output !== 'table') throw new UsageError(`-w does not go with -o ${output}`, { hint })
  if (!stdout.isTty || env.TERM === 'dumb') {
    throw new UsageError('-w needs a terminal that can redraw on standard output', { hint })
  }
}

async function watchStatus(store: StreamStore, output: Output, runtime: Runtime): Promise<void> {
  const read = async () => {
    const state = await readWatchdogState(store, runtime.signal)
    const all = linesOf(state, store, output, undefined)
    return {
      text: [counted(state.watchdogs.length, 'watchdog'), ...sentences(state, store, runtime)].join(' · '),
      total: all.length - 1,
      drawable: all.length - 1,
      lines: (rows: number, { width }: { readonly width?: number }) =>
        linesOf(state, store, output, width).slice(0, rows + 1),
    }
  }
  await watch(read, { title: visibleText(store.address), intervalMs: usualIntervalMs(store), output, runtime })
}

function linesOf(
  { watchdogs }: WatchdogState,
  store: StreamStore,
  output: Output,
  width: number | undefined,
): string[] {
  const { paint, time } = output
  return watchdogStatusText(watchdogs, { nowMs: store.nowMs(), time, paint, ...(width === undefined ? {} : { width }) })
}

/** Sentences about all watchdogs together. */
function sentences(state: WatchdogState, store: StreamStore, runtime: Runtime): string[] {
  const { watchdogs, damaged, fault } = state
  const nowMs = store.nowMs()
  const start = `start one: ${visibleText(commandLine(runtime, ['watchdog']))}`
  const why = fault === undefined ? 'is damaged: unreadable parts are left out' : `cannot be read: ${fault}`
  const notes = damaged ? [`${WATCHDOG_STATE} ${visibleText(why)}`] : []
  if (watchdogs.length === 0 && !damaged) {
    const missing = missingFile(store.address)
    const where = `${visibleText(store.address)}${missing === undefined ? '' : `: ${missing}`}`
    notes.push(`no watchdog has written its state in ${where}; ${start}`)
  } else if (
    fault === undefined &&
    watchdogs.every(entry => ['silent', 'stopped'].includes(livenessOf(entry, nowMs)))
  ) {
    notes.push(`no watchdog is running; ${start}`)
  }
  const counts = shardCounts(state, nowMs)
  if (counts.length > 1) {
    const each = counts.map(count => (count === 0 ? 'no --shards' : `--shards ${count}`)).join(', ')
    notes.push(`these watchdogs do not share work, because their --shards differ: ${each}`)
  }
  return notes
}
