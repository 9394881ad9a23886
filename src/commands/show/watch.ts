import { missingProblem } from '../../cli/outcome-problem.ts'
import { type StoreReading, watch } from '../../cli/output/redraw.ts'
import type { Output } from '../../cli/output.ts'
import { CommandFailed } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { usualIntervalMs } from '../../cli/store.ts'
import { diffLines } from '../../formats/stream/diff.ts'
import type { HeaderOptions as Look } from '../../formats/stream/header.ts'
import { showFitted } from '../../formats/stream/layout.ts'
import { noPaint } from '../../formats/terminal/style.ts'
import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import type { StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { levelsOf, type ShowCommandOptions } from './options.ts'
import { differenceOf, layoutOf, styleOf } from './print.ts'
import { type Selector, selectedEvents } from './select.ts'
import { findVersion, isProblem, type Picture, pictureNow } from './snapshot.ts'

/** Draws one stream in at most `height` lines. */
type Draw = (nowMs: number, style: Look, height: number) => string[]

/** A watched stream as last read, and its state since. */
interface Watched {
  readonly name: string
  /** Identifies the document and lease that `draw` draws. While it stays the same, nothing is parsed. */
  drawn: string
  draw: Draw | undefined
  note: string
}

/** Redraws streams in place until Ctrl-C (`show -w`). A stream that is removed or unreadable gets a note; the others go on. */
export async function watchShown(
  names: readonly string[],
  select: Selector | undefined,
  options: ShowCommandOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const all = names.map((name): Watched => ({ name, drawn: '', draw: undefined, note: '' }))
  const read = async (): Promise<StoreReading> => {
    for (const watched of all) await refresh(watched, select, options, store, output, runtime)
    return {
      text: names.length === 1 ? 'show' : `${names.length} streams`,
      // Each stream counts its own lines that do not fit.
      total: 1,
      drawable: 1,
      lines: (rows, sizes) => screen(all, rows + 1, { ...styleOf(output), ...sizes }, store.nowMs()),
    }
  }
  const intervalMs = options.interval ?? usualIntervalMs(store)
  await watch(read, { title: visibleText(store.address), intervalMs, output, runtime })
}

async function refresh(
  watched: Watched,
  select: Selector | undefined,
  options: ShowCommandOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const { name } = watched
  const stored = await store.read(name, runtime.signal)
  if (stored === undefined) {
    if (watched.drawn === '') throw new CommandFailed(missingProblem(name))
    watched.note = 'was removed; this is its last state'
    return
  }
  watched.note = ''
  const current = `${stored.etag} ${JSON.stringify(stored.lease)}`
  if (current === watched.drawn) return
  try {
    watched.draw = drawOf(viewOf(stored, store.nowMs()), select, options, output)
    watched.drawn = current
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    if (watched.draw === undefined && options.streams.length === 1) throw error
    watched.note = `cannot be read: ${error.message}${watched.draw === undefined ? '' : '; this is its last state'}`
    watched.drawn ||= 'unread'
  }
}

function drawOf(view: StreamView, select: Selector | undefined, options: ShowCommandOptions, output: Output): Draw {
  if (options.diff !== undefined) {
    const from = findVersion(view, options.diff, '--diff', output.time)
    if (isProblem(from)) throw new CommandFailed(from)
    const difference = differenceOf(view, from, undefined)
    return (nowMs, style, height) => cutTo(diffLines({ ...difference, nowMs }, style), height, style)
  }
  const picture = pictureNow(view)
  const selected = select?.(picture)
  if (selected?.kind === 'values') return (_, style, height) => cutTo(selected.values.map(text), height, style)
  const only = selected === undefined ? undefined : selectedEvents(selected, picture)
  return (nowMs, style, height) => showFitted(shownAt(picture, nowMs, only, options), style, height)
}

const text = (value: string | number | boolean) => visibleText(String(value))

function shownAt(
  { shown, transactions }: Picture,
  nowMs: number,
  only: ReturnType<typeof selectedEvents>,
  options: ShowCommandOptions,
) {
  return {
    shown: { ...shown, nowMs },
    layout: layoutOf(options.output),
    transactions,
    ...levelsOf(options),
    ...(only === undefined ? {} : { only }),
  }
}

/** Divides the height among the streams. A note goes above its stream. */
function screen(all: readonly Watched[], height: number, style: Look, nowMs: number): string[] {
  const each = Math.max(1, Math.floor((height - (all.length - 1)) / all.length))
  return all.flatMap(({ name, draw, note }, at) => {
    const warn = (style.paint ?? noPaint)('bad', `${visibleName(name)} ${visibleText(note)}`)
    const notes = note === '' ? [] : [warn]
    const lines = draw?.(nowMs, style, each - notes.length) ?? []
    return [...(at === 0 ? [] : ['']), ...notes, ...lines]
  })
}

function cutTo(lines: readonly string[], height: number, style: Look): string[] {
  if (lines.length <= height) return [...lines]
  const kept = lines.slice(0, Math.max(0, height - 1))
  return [...kept, (style.paint ?? noPaint)('dim', `… ${lines.length - kept.length} more`)]
}
