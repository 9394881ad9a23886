import { attemptsIn, type BarClaim, barSigns, CLAIMED, DUE, WAKE } from '../../../formats/stream/time-scale.ts'
import { eventDueMs, type ShownStream } from '../../../formats/stream/view.ts'
import { calmSpan } from '../../../formats/terminal/numbers.ts'
import type { Style } from '../../../formats/terminal/style.ts'
import { cut } from '../../../formats/terminal/width.ts'
import type { StreamView } from '../../../ops/read-stream.ts'
import type { StreamEvent } from '../../../stream/event.ts'
import { wakeMs } from '../../../stream/gate.ts'
import { cached } from '../../cached.ts'
import type { Scene } from '../../state/context.ts'
import { historiesOf } from '../../state/timeline.ts'
import { type Area, joined, rowOf, type ScreenRow, type StyledText, widthOfSpans } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { clockOnly, clockText, dueSpan } from '../times.ts'
import { waitsSpan } from './waits.ts'

/** Who ran the events of a stream, each owner in a colour of its own. */
interface Claims {
  readonly of: ReadonlyMap<string, readonly (BarClaim & { readonly owner: string })[]>
  readonly styles: ReadonlyMap<string, Style>
}

const HUES: readonly Style[] = ['hue1', 'hue2', 'hue3', 'hue4', 'hue5', 'hue6', 'hue7', 'hue8']

/** Cached per view: computing them scans the whole journal. */
export const claimsOf = cached((view: StreamView): Claims => {
  const of = new Map<string, (BarClaim & { readonly owner: string })[]>()
  const styles = new Map<string, Style>()
  for (const { at, changes } of view.transactions()) {
    const fromMs = view.time(at)
    if (fromMs === undefined) continue
    for (const { event, to, owner = '', attempt = 1, lc } of changes) {
      // A closed gate is no claim, though the event is in process.
      if (to !== 'inprocess' || lc?.wait !== undefined) continue
      if (owner !== '' && !styles.has(owner)) styles.set(owner, HUES[styles.size % HUES.length] ?? 'active')
      const claim = { fromMs, attempt, owner, style: styles.get(owner) ?? 'active' }
      const known = of.get(event)
      if (known === undefined) of.set(event, [claim])
      else known.push(claim)
    }
  }
  return { of, styles }
})

/** Lower timelines have the signs only. */
const LEAST_FOR_ALL = 16

/** The times of the event under the cursor, the owners in their colours, and the signs of the bars. */
export function legendRows(
  scene: Scene,
  view: StreamView,
  cursor: { readonly event: StreamEvent | undefined; readonly shown: ShownStream },
  { columns, rows }: Area,
): ScreenRow[] {
  const { event, shown } = cursor
  const signs = signRow(view, columns)
  if (rows < LEAST_FOR_ALL) return [signs]
  const owners = ownerParts(view, columns)
  return [
    rowOf([[' ', 'plain'], ...(event === undefined ? [] : cursorSpans(scene, view, event, shown))], columns),
    ...(owners.length === 0 ? [] : [rowOf([[' ', 'plain'], ...joined(owners, '   ')], columns)]),
    signs,
  ]
}

/** The latest first: `01.02   due in 4m12s   running 12:09:12 for 48s worker-7   ready 12:08:42 for 30s`. */
function cursorSpans(scene: Scene, view: StreamView, event: StreamEvent, shown: ShownStream): StyledText[] {
  const moment = clockOnly({ nowMs: shown.nowMs, time: scene.state.time })
  const history = historiesOf(view).of.get(event.id)
  const claims = claimsOf(view).of.get(event.id) ?? []
  const times = (word: string, fromMs: number, toMs: number) =>
    `${word} ${clockText(fromMs, moment)} for ${calmSpan(toMs - fromMs)}`
  const phases = (history?.spans ?? []).flatMap(({ phase, fromMs, toMs = shown.nowMs }) => {
    const attempts = phase === 'running' ? attemptsIn(claims, fromMs, toMs) : []
    if (attempts.length === 0) return [{ atMs: fromMs, text: times(phase, fromMs, toMs), style: 'plain' as const }]
    return attempts.map(part => {
      const number = part.attempt > 1 ? ` #${part.attempt}` : ''
      const text = `${times(phase, part.fromMs, part.toMs)} ${safeText(part.owner)}`.trimEnd()
      return { atMs: part.fromMs, text: `${text}${number}`, style: part.style }
    })
  })
  const ends = (history?.ends ?? []).map(({ atMs, status }) => {
    return { atMs, text: `${safeText(status)} ${clockText(atMs, moment)}`, style: 'plain' as const }
  })
  const parts = [...phases, ...ends].sort((a, b) => b.atMs - a.atMs).slice(0, MOST_TIMES)
  const dueMs = eventDueMs(shown, event)
  const [due, style] =
    dueMs === undefined ? (['', 'plain'] as const) : dueSpan(dueMs, { ...moment, time: scene.state.time })
  return joined(
    [
      [[safeText(event.id), 'strong']],
      [[due === '' ? '' : `due ${due}`, style]],
      [waitsSpan(event, { ...moment, time: scene.state.time })],
      ...parts.map(({ text, style }): StyledText[] => [[text, style]]),
    ],
    '   ',
  )
}

/** No line has room for more. */
const MOST_TIMES = 12
const MOST_NAME = 24

/** As many owners as fit, and the number of the others. */
function ownerParts(view: StreamView, columns: number): StyledText[][] {
  const { styles } = claimsOf(view)
  const parts: StyledText[][] = []
  for (const [owner, style] of styles) {
    const rest = styles.size - parts.length
    const part: StyledText[] = [
      ['█', style],
      [` ${cut(safeText(owner), MOST_NAME)}`, 'plain'],
    ]
    if (widthOfSpans(joined([...parts, part], '   ')) + ROOM_FOR_REST > columns) {
      return [...parts, [[`and ${rest} more`, 'dim']]]
    }
    parts.push(part)
  }
  return parts
}

const ROOM_FOR_REST = 16

/** Cached per view: computing them looks at every event. */
const signsOf = cached((view: StreamView) => [
  ...barSigns(historiesOf(view).of.values()),
  CLAIMED,
  DUE,
  ...(view.stream.events.some(event => wakeMs(event) !== undefined) ? [WAKE] : []),
])

function signRow(view: StreamView, columns: number): ScreenRow {
  const parts = signsOf(view).map(({ glyph, style, word }): StyledText[] => [
    [glyph, style],
    // Shortens `ready to be claimed` to `ready`.
    [` ${word.replace(/ (?:to|for) .*/, '')}`, 'dim'],
  ])
  return rowOf([[' ', 'plain'], ...joined(parts, '   ')], columns)
}
