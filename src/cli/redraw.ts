import { clock, countText, span } from '../formats/terminal/numbers.ts'
import type { TableOptions } from '../formats/terminal/table.ts'
import { cut } from '../formats/terminal/width.ts'
import { StoreUnreachable } from '../store/errors.ts'
import { sleepUntilAborted } from '../util/concurrency.ts'
import { visibleText } from '../util/visible-text.ts'
import type { Output } from './output.ts'
import type { LiveView, Runtime } from './runtime.ts'

/** What one look at the store saw. */
export interface StoreReading {
  /** How much there is, in a sentence. */
  readonly text: string
  /** Rows there would be on a screen without end, and how many of them can be drawn. */
  readonly total: number
  readonly drawable: number
  /** Header and at most so many rows, as old as they are now. */
  lines(rows: number, sizes: Pick<TableOptions, 'width'>): string[]
}

export type ReadStore = () => Promise<StoreReading>

export interface RedrawOptions {
  /** What is watched. */
  readonly title: string
  readonly intervalMs: number
  readonly output: Output
  readonly runtime: Runtime
}

/** What is drawn, and how fresh it is. */
interface Screen {
  readonly seen: StoreReading
  /** When this was seen. */
  readonly seenMs: number
  /** Since when the store does not answer, and what it said last. */
  readonly outage?: { readonly sinceMs: number; readonly message: string | undefined }
}

/** An answer that takes longer than this is told about. */
const SLOW_MS = 5_000

/**
 * Draws what is seen in place, again each interval, until a signal ends it. A store that does not answer is asked again;
 * the first look must succeed. The last picture stays on the terminal.
 */
export async function watch(look: ReadStore, options: RedrawOptions): Promise<void> {
  const { runtime } = options
  let screen: Screen = { seen: await look(), seenMs: runtime.nowMs() }
  const live = await runtime.openLiveView()
  const draw = () => live.draw(linesOf(screen, live.height, options))
  try {
    let restMs = options.intervalMs
    while (!runtime.signal.aborted) {
      draw()
      await sleepUntilAborted(restMs, runtime.signal)
      const startMs = runtime.nowMs()
      const answer = again(look, screen, startMs, runtime)
      while (!(await settled(answer, options.intervalMs, runtime.signal))) {
        if (runtime.nowMs() - startMs >= SLOW_MS)
          screen = { outage: { sinceMs: startMs, message: undefined }, ...screen }
        draw()
      }
      screen = await answer
      // a listing that takes long leaves the store as much time for others
      restMs = Math.max(options.intervalMs, runtime.nowMs() - startMs)
    }
  } finally {
    await close(live, screen, options)
  }
}

/** The next screen. What an interruption cut off changes nothing. @throws the store's faults but `StoreUnreachable` */
async function again(look: ReadStore, screen: Screen, startMs: number, runtime: Runtime): Promise<Screen> {
  if (runtime.signal.aborted) return screen
  try {
    return { seen: await look(), seenMs: runtime.nowMs() }
  } catch (error) {
    if (runtime.signal.aborted) return screen
    if (!(error instanceof StoreUnreachable)) throw error
    return { ...screen, outage: { sinceMs: screen.outage?.sinceMs ?? startMs, message: error.message } }
  }
}

/** Whether it came within an interval. A signal does not wait for what it cut off itself. */
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
  const head = [output.paint('dim', fit(`${screen.seen.text} · ${title} · ${clock(screen.seenMs, nowMs, time)}`))]
  if (screen.outage !== undefined) {
    const { sinceMs, message } = screen.outage
    const since = `no answer since ${clock(sinceMs, nowMs, time)} (${span(nowMs - sinceMs)}), asking again`
    head.push(output.paint('bad', fit(message === undefined ? since : `${since}: ${visibleText(message)}`)))
  }
  const room = Math.max(1, height - head.length - 1)
  const { total, drawable } = screen.seen
  const rows = total > Math.min(drawable, room) ? Math.min(drawable, room - 1) : room
  const more = total > rows ? [output.paint('dim', `… ${countText(total - rows)} more`)] : []
  return [...head, ...screen.seen.lines(rows, width === undefined ? {} : { width }), ...more]
}
