import { clock, countText, span } from '../../formats/terminal/numbers.ts'
import type { TableOptions } from '../../formats/terminal/table.ts'
import { cut } from '../../formats/terminal/width.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { Output } from '../output.ts'
import type { LiveView, Runtime } from '../runtime.ts'

/** The result of one poll of the store. */
export interface StoreReading {
  /** The totals, as a phrase: `20 streams`. */
  readonly text: string
  /** Number of rows on an unlimited screen, and how many of them can be drawn. */
  readonly total: number
  readonly drawable: number
  /** Header and at most this many rows, with ages as of now. */
  lines(rows: number, sizes: Pick<TableOptions, 'width'>): string[]
}

export type ReadStore = () => Promise<StoreReading>

export interface RedrawOptions {
  /** The name of the view. */
  readonly title: string
  readonly intervalMs: number
  readonly output: Output
  readonly runtime: Runtime
}

/** The content of the screen and its age. */
interface Screen {
  readonly reading: StoreReading
  /** Time of the reading. */
  readonly readMs: number
  /** Start of an outage of the store, and its last error. */
  readonly outage?: { readonly sinceMs: number; readonly message: string | undefined }
}

/** An answer that takes longer is reported as an outage. */
const SLOW_MS = 5_000

/**
 * Polls the store each interval and redraws the result in place, until a signal. An unreachable store is polled again; the
 * first poll must succeed. The last picture stays on the terminal.
 */
export async function watch(read: ReadStore, options: RedrawOptions): Promise<void> {
  const { runtime } = options
  let screen: Screen = { reading: await read(), readMs: runtime.nowMs() }
  const live = await runtime.openLiveView()
  const draw = () => live.draw(linesOf(screen, live.height, options))
  try {
    let restMs = options.intervalMs
    while (!runtime.signal.aborted) {
      draw()
      await sleepUntilAborted(restMs, runtime.signal)
      const startMs = runtime.nowMs()
      const answer = next(read, screen, startMs, runtime)
      while (!(await settled(answer, options.intervalMs, runtime.signal))) {
        if (runtime.nowMs() - startMs >= SLOW_MS)
          screen = { outage: { sinceMs: startMs, message: undefined }, ...screen }
        draw()
      }
      screen = await answer
      // after a slow listing, leave the store as much time for others
      restMs = Math.max(options.intervalMs, runtime.nowMs() - startMs)
    }
  } finally {
    await close(live, screen, options)
  }
}

/** The next screen; the same one after an interruption. @throws faults of the store except `StoreUnreachable` */
async function next(read: ReadStore, screen: Screen, startMs: number, runtime: Runtime): Promise<Screen> {
  if (runtime.signal.aborted) return screen
  try {
    return { reading: await read(), readMs: runtime.nowMs() }
  } catch (error) {
    if (runtime.signal.aborted) return screen
    if (!(error instanceof StoreUnreachable)) throw error
    return { ...screen, outage: { sinceMs: screen.outage?.sinceMs ?? startMs, message: error.message } }
  }
}

/** Whether the answer settled within an interval. After a signal, does not wait for an answer that the signal aborts. */
async function settled(answer: Promise<unknown>, ms: number, signal: AbortSignal): Promise<boolean> {
  const waiting = new AbortController()
  const done = answer.then(
    () => true,
    () => true,
  )
  const late = sleepUntilAborted(ms, signal, waiting.signal).then(() => signal.aborted)
  try {
    return await Promise.race([done, late])
  } finally {
    waiting.abort()
  }
}

async function close(live: LiveView, screen: Screen, options: RedrawOptions): Promise<void> {
  const lines = linesOf(screen, live.height, options)
  await live.close()
  await options.output.lines(lines)
}

function linesOf(screen: Screen, height: number, { title, output, runtime }: RedrawOptions): string[] {
  const nowMs = runtime.nowMs()
  const width = runtime.stdout.columns
  const time = output.time === 'relative' ? 'local' : output.time
  const fit = (text: string) => (width === undefined ? text : cut(text, width))
  const head = [output.paint('dim', fit(`${screen.reading.text} · ${title} · ${clock(screen.readMs, nowMs, time)}`))]
  if (screen.outage !== undefined) {
    const { sinceMs, message } = screen.outage
    const since = `no answer since ${clock(sinceMs, nowMs, time)} (${span(nowMs - sinceMs)}), retrying`
    head.push(output.paint('bad', fit(message === undefined ? since : `${since}: ${visibleText(message)}`)))
  }
  const room = Math.max(1, height - head.length - 1)
  const { total, drawable } = screen.reading
  const rows = total > Math.min(drawable, room) ? Math.min(drawable, room - 1) : room
  const more = total > rows ? [output.paint('dim', `… ${countText(total - rows)} more`)] : []
  return [...head, ...screen.reading.lines(rows, width === undefined ? {} : { width }), ...more]
}
